import pytest
from hypothesis import given
from hypothesis import strategies as st

from banks.diffs import MAX_LINES, Diff, Line, diff


def words(line: Line) -> str:
    return "".join(f"[{p.op}:{t}]" if p.op else t for p in line.pieces for t in ["".join(s.text for s in p.segments)])


def shown(result: Diff) -> list[str]:
    return [f"{line.op} {line.note or words(line)}" for line in result.lines]


def test_words_of_a_changed_line_are_marked() -> None:
    assert shown(diff("one\nup to 5 times\nthree", "one\nup to 8 times over 24 hours\nthree")) == [
        "skip 1 line unchanged",
        "del up to [del:5] times",
        "add up to [ins:8] times[ins: over 24 hours]",
        "skip 1 line unchanged",
    ]


def test_added_and_removed_lines() -> None:
    assert shown(diff("a\nb", "a\nb\nc")) == ["skip 2 lines unchanged", "add c"]
    assert shown(diff("a\nb\nc", "a\nc")) == ["skip 1 line unchanged", "del b", "skip 1 line unchanged"]


def test_no_change_and_only_line_ends() -> None:
    assert diff("a\nb", "a\nb").same
    ends = diff("a\nb", "a\r\nb")
    assert (ends.same, ends.only_line_ends, ends.lines) == (False, True, [])


def test_hidden_characters_of_a_change_are_visible() -> None:
    assert shown(diff("once\u200b, then", "once, then"))[0] == "del once[del:U+200B], then"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x" * 300_000, "x" * 150_000 + "y" + "x" * 150_000),
        ("\n".join(str(i) for i in range(20_000)), "\n".join(str(i) for i in range(20_000, 40_000))),
        ("\n" * 50_000, "a\n" * 50_000),
        ("a b " * 40_000, "b a " * 40_000),
    ],
)
def test_big_texts_stay_small_on_the_page(before: str, after: str) -> None:
    result = diff(before, after)
    assert result.changed
    assert len(result.lines) <= MAX_LINES + 1
    assert sum(len(s.text) for line in result.lines for p in line.pieces for s in p.segments) < MAX_LINES * 3000


TEXTS = st.lists(st.sampled_from(["a", "b", "ab", " ", "\n", "é"]), max_size=20).map("".join)


@given(TEXTS, TEXTS)
def test_it_shows_what_changed_and_nothing_else(before: str, after: str) -> None:
    result = diff(before, after)
    plain = lambda op: [  # noqa: E731
        "".join(s.text for p in line.pieces for s in p.segments) for line in result.lines if line.op == op
    ]
    assert result.same == (before == after)
    assert set(plain("del")) <= set(before.split("\n"))
    assert set(plain("add")) <= set(after.split("\n"))

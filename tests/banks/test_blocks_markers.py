"""Markers in AGENTS.md: the three forms in all their spellings, what is refused, and what is left alone."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from banks.blocks.markers import FACTS, MOST_LINES, Marker, Refused, find, read, replaced

MODEL = Marker("model", "user-profile")
QUERY = Marker("query", "how does this person like to work?")
FIVE = Marker("query", "how does this person like to work?", 5)
BLOCK = "<user_profile>\n- Ann likes tabs.\n</user_profile>"


@pytest.mark.parametrize(
    ("text", "marker"),
    [
        ("<!-- hindsight:user -->", FACTS),
        ("<!--hindsight:user-->", FACTS),
        ("<!--\nhindsight:user\n-->", FACTS),
        ("<!-- hindsight:user model: user-profile -->", MODEL),
        ("<!-- hindsight:user model:user-profile -->", MODEL),
        ("<!-- hindsight:user\n  model: user-profile\n-->", MODEL),
        ("<!-- hindsight:user query: how does this person like to work? -->", QUERY),
        ("<!-- hindsight:user\r\n  query:   how does this\r\n    person like to work?\r\n-->", QUERY),
        ("<!-- hindsight:user\n\n  query:\n  how does this person\n\n  like to work? -->", QUERY),
        ("<!-- hindsight:user query: how does this person like to work? limit: 5 -->", FIVE),
        ("<!-- hindsight:user query: how does this person like to work?\n limit: 5 -->", FIVE),
        ("<!-- hindsight:user\n  query: how does this person like to work?\n  limit: 5\n-->", FIVE),
        ("<!-- hindsight:user limit: 5 query: how does this person like to work? -->", FIVE),
        ("<!-- hindsight:user query: what is at 10:30? -->", Marker("query", "what is at 10:30?")),
        ("\ufeff<!-- hindsight:user -->", FACTS),
    ],
)
def test_a_marker_means_the_same_in_all_its_spellings(text: str, marker: Marker) -> None:
    assert read(text) == marker
    assert read(str(marker)) == marker


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("everything", "belongs to no field"),
        (":x", "means nothing"),
        ("model: a query: b", "one of them"),
        ("query: b model: a", "one of them"),
        ("limit: 5", "belongs to a query"),
        ("model: a limit: 5", "belongs to a query"),
        ("query: x limit: 0", "no number from 1"),
        ("query: x limit: -1", "no number from 1"),
        ("query: x limit: abc", "no number from 1"),
        ("query: x limit: ٥", "no number from 1"),
        ("query: x limit:", "no number from 1"),
        ("query: x limit: 5 limit: 6", "twice"),
        ("query: x\nlimit: 5\nand more", "belongs to no field"),
        ("bank: theirs", "cannot name a bank"),
        ("model: a bank: theirs", "cannot name a bank"),
        ("query: x\nnote: y", "no field “note”"),
        ("colour: red", "no field “colour”"),
        ("model: a\nb", "belongs to no field"),
        ("model: a b", "no id"),
        ("model: ../x", "no id"),
        ("model: ..", "no id"),
        ("model:", "no id"),
        ("query:", "empty"),
        (f"query: {'x' * 2_001}", "more than 2,000"),
    ],
)
def test_what_is_not_understood_is_refused_as_a_whole_and_removed(body: str, why: str) -> None:
    separator = "" if body.startswith(":") else " "
    text = f"Before\n<!-- hindsight:user{separator}{body} -->\nAfter\n"
    (found,) = find(text)
    assert (found.marker, found.closed, found.line) == (None, True, 2)
    assert why in found.why
    assert replaced(text, lambda marker: BLOCK) == "Before\nAfter\n"


@pytest.mark.parametrize(
    "text",
    [
        "Write <!-- hindsight:user --> at the start of a line.",
        "  <!-- hindsight:user -->",
        "<!-- hindsight:username -->",
        "<!-- hindsight:user-bank -->",
        "<!-- hindsight -->",
        "<!-- Hindsight:User -->",
        "<!-- about hindsight:user -->",
    ],
)
def test_what_is_no_marker_is_left_alone(text: str) -> None:
    assert find(text) == []
    assert replaced(text, lambda marker: BLOCK) == text


def test_one_that_is_not_closed_takes_no_other_with_it() -> None:
    text = "<!-- hindsight:user\n\nText.\n<!-- hindsight:user -->\nMore."
    first, second = find(text)
    assert (first.closed, first.marker, first.line) == (False, None, 1)
    assert (second.marker, second.line) == (FACTS, 4)
    assert replaced(text, lambda marker: BLOCK) == f"<!-- hindsight:user\n\nText.\n{BLOCK}\nMore."


@pytest.mark.parametrize("more", ["", "Text.\n" * 200, "Text.\n" * MOST_LINES + "-->"])
def test_one_that_nothing_closes_in_time_is_left_as_it_is(more: str) -> None:
    text = f"# Rules\n<!-- hindsight:user query: x\n{more}"
    (found,) = find(text)
    assert "not closed" in found.why
    assert replaced(text, lambda marker: BLOCK) == text


def test_a_marker_may_have_as_many_lines_as_are_said() -> None:
    lines = ["<!-- hindsight:user", "query:", *["x"] * (MOST_LINES - 3), "-->"]
    assert read("\n".join(lines)).kind == "query"
    (found,) = find("\n".join([*lines[:-1], "x", "-->"]))
    assert not found.closed


def test_blocks_stand_where_markers_stood_and_the_rest_is_unchanged() -> None:
    text = (
        "# Me\r\n<!-- hindsight:user -->\r\n\r\n<!-- hindsight:user model: none --> \r\nEnd\r\n<!-- hindsight:user -->"
    )
    told = replaced(text, lambda marker: BLOCK if marker == FACTS else "")
    assert told == f"# Me\r\n{BLOCK}\r\n\r\nEnd\r\n{BLOCK}"


@pytest.mark.parametrize(
    "text", ["", "x", "<!-- hindsight:user --> x", "<!-- hindsight:user -->\n<!-- hindsight:user -->"]
)
def test_a_program_names_one_marker_and_nothing_else(text: str) -> None:
    with pytest.raises(Refused, match="not one marker"):
        read(text)


@given(st.text(alphabet=st.sampled_from("<!->\n :axhindsightuserqueryodlm5\ufeff"), max_size=40))
def test_any_text_is_read_and_what_is_no_marker_stays(text: str) -> None:
    marked = f"{text}\n<!-- hindsight:user {text} -->\n{text}"
    found = find(marked)
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert all((each.marker is None) == bool(each.why) for each in found)
    assert replaced(text, lambda marker: BLOCK) == text or find(text)


@given(st.text(min_size=1, max_size=30))
def test_what_a_query_says_is_kept_but_for_its_spaces(query: str) -> None:
    try:
        marker = read(f"<!-- hindsight:user query: {query} -->")
    except Refused:
        return
    assert read(str(marker)) == marker

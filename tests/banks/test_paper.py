import pytest
from hypothesis import given
from hypothesis import strategies as st

from banks.paper import HEAD, MAX_PARAGRAPHS, PART, TAIL, Paper, is_clipped, paper


def words(shown: Paper) -> list[str]:
    return ["".join(s.text for s in p.segments) for p in [*shown.head, *shown.tail]]


def test_blank_lines_part_paragraphs_and_line_ends_stay_inside() -> None:
    assert words(paper("one\ntwo\n\n \n\nthree\r\n\r\nfour")) == ["one\ntwo", "three", "four"]


def test_a_text_of_usual_length_is_whole() -> None:
    text = "x" * (HEAD + TAIL)
    shown = paper(text)
    assert (shown.omitted.kind, words(shown), is_clipped(len(text))) == ("none", [text], False)


def test_of_a_long_text_both_ends_are_shown_and_the_rest_is_counted() -> None:
    text = "a" * HEAD + "b" * 5000 + "c" * TAIL
    shown = paper(text)
    assert words(shown) == ["a" * HEAD, "c" * TAIL]
    assert (shown.omitted.count, shown.length, is_clipped(len(text))) == (5000, len(text), True)


def test_no_character_is_cut_in_half() -> None:
    shown = paper("a" + "я" * (HEAD + TAIL))  # two bytes each, and the cut falls into one
    assert "\ufffd" not in "".join(words(shown))
    assert shown.omitted.count == HEAD + TAIL + 2


def test_hidden_characters_are_counted_where_they_are_not_shown() -> None:
    assert paper("a" * HEAD + "\u202e" + "b" * (HEAD + TAIL)).dangers[0].count == 1


def test_parts_make_the_whole() -> None:
    text = "".join(chr(0x4E00 + n % 5000) for n in range(2 * PART + 7))
    parts = [paper(text, part) for part in (1, 2, 3)]
    assert [p.parts for p in parts] == [3, 3, 3]
    assert "".join("".join(words(p)) for p in parts) == text
    assert paper(text, 99).part == 3


def test_nothing_but_line_breaks_is_no_flood_of_elements() -> None:
    assert len(paper("a\n\n" * 60_000, 1).head) == MAX_PARAGRAPHS


@pytest.mark.parametrize("text", ["", "\n", "\n\n\n", "   ", "\r\n \r\n"])
def test_an_empty_text_is_not_an_error(text: str) -> None:
    assert "".join(words(paper(text))).strip() == ""


@given(st.text(alphabet="ab \n\r\t", max_size=60))
def test_no_visible_character_is_lost(text: str) -> None:
    assert "".join("".join(words(paper(text))).split()) == "".join(text.split())

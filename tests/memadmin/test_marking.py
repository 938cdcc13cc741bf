"""Which words of a text are marked, and which part of it is shown."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from banks.excerpts import excerpt, excerpt_of, marked_id
from memadmin.marking import literal_places, places_of
from memadmin.terms import phrases_of

# (text, what is typed, what is marked)
CASES = [
    ("The staging database moved to port 5433.", "database PORT", ["database", "port"]),
    ("The staging database moved.", "data", ["database"]),
    ("The staging database moved.", "data moved", ["moved"]),
    ("moved to port, port moved", '"moved to port"', ["moved to port"]),
    ("notes/2026-03-02.md", "2026-03-02", ["2026-03-02"]),
    ("foo_bar", "bar", ["bar"]),
    ("It is written in C++ and C#, not C.", "c++ c#", ["C++", "C#"]),
    ("It is written in C++ and C.", "c written", ["written", "C"]),
    ("Настройки хранятся в файле", "НАСТРОЙКИ хран", ["Настройки", "хранятся"]),
    ("Das Müller-Café in der Straße", "muller cafe strasse", ["Müller", "Café", "Straße"]),
    ("cafe\u0301 crème", "café", ["cafe\u0301"]),
    ("İstanbul'da ΣΊΣΥΦΟΣ", "istanbul σίσυφος", ["İstanbul", "ΣΊΣΥΦΟΣ"]),
    ("pass\u200bword re\u00adset", "password reset", ["pass\u200bword", "re\u00adset"]),
    ("東京都の天気は晴れです。", "東京 晴れ", ["東京", "晴れ"]),
    ("데이터 서울에서", "서울", ["서울에서"]),
    ("كَتَبَ الطالب", "كتب", ["كَتَبَ"]),
    ("line one\r\n\tline\x00two", '"line two"', ["line\x00two"]),
    ("x" * 3000, "x" * 2500, ["x" * 260]),
    ("100% of a_b", "%", []),
    ("Nothing.", "else", []),
]


@pytest.mark.parametrize(("text", "typed", "marked"), CASES)
def test_what_is_marked(text: str, typed: str, marked: list[str]) -> None:
    assert [piece.text for piece in excerpt(text, phrases_of(typed)).pieces if piece.hit] == marked


def test_the_part_with_most_of_the_words_is_shown() -> None:
    text = f"{'port lies here. ' * 40}Then the ledger moved to a port of its own. {'And so on. ' * 60}"
    shown = excerpt(text, phrases_of("ledger port moved"))
    assert (shown.whats, shown.before, shown.after) == (3, True, True)
    assert "the ledger moved to a port" in shown.text
    assert len(shown.text) <= 260
    assert [shown.text[start:end] for start, end in shown.marks].count("ledger") == 1
    beginning = excerpt(text, phrases_of("nowhere"))
    assert (beginning.whats, beginning.before, beginning.text[:15]) == (0, False, "port lies here.")


def test_an_id_is_shown_from_its_beginning() -> None:
    shown = marked_id("a" * 100 + "/port/" + "b" * 900, phrases_of("port"))
    assert (shown.marks, len(shown.text), shown.after) == ([(101, 105)], 160, True)


def test_what_servers_look_for_is_marked_as_it_stands() -> None:
    found = excerpt_of("Transport: 100% of a_b.", literal_places("Transport: 100% of a_b.", "PORT: 100%"))
    assert [piece.text for piece in found.pieces if piece.hit] == ["port: 100%"]
    assert literal_places("abc", "") == []


@given(st.text(max_size=600), st.text(max_size=60))
def test_nothing_is_lost_or_made_up(text: str, typed: str) -> None:
    phrases = phrases_of(typed)
    for places in (places_of(text, phrases), literal_places(text, typed)):
        assert all(0 <= one.start < one.end <= len(text) for one in places)
        assert all(one.end <= other.start for one, other in pairwise(places))
        shown = excerpt_of(text, places)
        assert shown.text in text
        assert all(start < end for start, end in shown.marks)

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reviews.text import normalise_newlines


def as_browser_sends(text: str) -> str:
    """What a text area's value becomes on its way: every line end is CRLF."""
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n")


@pytest.mark.parametrize(
    "original",
    [
        "one line",
        "\n\nleading",
        "trailing \n\n",
        "a\r\nb\r\n",
        "a\nb\r\nc\rd",
        "  spaces stay  \n\t\n ",
        "",
        "\n",
        "\r",
        "e\u2028f\x85g\n",
    ],
)
def test_unchanged_text_comes_back_byte_for_byte(original: str) -> None:
    assert normalise_newlines(as_browser_sends(original), original) == original


def test_changed_text_takes_the_line_ends_of_the_original() -> None:
    assert normalise_newlines("a\r\nB\r\nc", "a\nb\nc") == "a\nB\nc"
    assert normalise_newlines("a\r\nB\r\nc", "a\r\nb\r\nc") == "a\r\nB\r\nc"
    assert normalise_newlines("a\r\nnew\r\nb", "a\nb") == "a\nnew\nb"
    assert normalise_newlines("x\r\ny", "x") == "x\ny"


def test_each_line_around_the_change_keeps_its_own_end() -> None:
    original = "one\r\ntwo\nthree\rfour\nfive"
    assert normalise_newlines("one\r\ntwo\r\nTHREE\r\nfour\r\nfive", original) == "one\r\ntwo\nTHREE\rfour\nfive"
    assert normalise_newlines("one\r\ntwo\r\nand\r\nmore\r\nthree\r\nfour\r\nfive", original) == (
        "one\r\ntwo\nand\nmore\nthree\rfour\nfive"
    )
    assert normalise_newlines("one\r\nfive", original) == "one\r\nfive"


TEXTS = st.lists(st.sampled_from(["\r\n", "\n", "\r", "a", "b", " ", "\u2028"]), max_size=12).map("".join)


@given(TEXTS)
def test_any_text_survives_a_form(original: str) -> None:
    assert normalise_newlines(as_browser_sends(original), original) == original


@given(TEXTS, TEXTS)
def test_nothing_but_line_ends_is_ever_touched(new: str, original: str) -> None:
    result = normalise_newlines(new, original)
    assert as_browser_sends(result) == as_browser_sends(new)

"""Markdown as blocks: what is understood, and that nothing of it becomes markup."""

import pytest
from django.template.loader import render_to_string
from hypothesis import given, settings
from hypothesis import strategies as st

from banks.markdown import MOST_BLOCKS, Block, blocks_of
from tests.reviews.pages import XSS, assert_harmless


def plain(block: Block) -> list[str]:
    return ["".join(segment.text for span in line for segment in span.segments) for line in block.lines]


def told(text: str) -> list[tuple[str, list[str]]]:
    return [(block.kind, plain(block)) for block in blocks_of(text)]


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("", []),
        ("## Title ##\nWords.", [("heading", ["Title"]), ("paragraph", ["Words."])]),
        ("One\ntwo\n\nthree", [("paragraph", ["One", "two"]), ("paragraph", ["three"])]),
        ("- a\n- b\n1. c", [("bullets", ["a", "b"]), ("numbers", ["c"])]),
        (
            "```py\n# no heading\n- no list\n```\nafter",
            [("code", ["# no heading", "- no list"]), ("paragraph", ["after"])],
        ),
        ("```\nnever closed", [("code", ["never closed"])]),
        ("#hash\n-dash", [("paragraph", ["#hash", "-dash"])]),
        ("a\r\nb", [("paragraph", ["a", "b"])]),
        ("[link](https://x.test)", [("paragraph", ["[link](https://x.test)"])]),
    ],
)
def test_what_is_understood(text: str, blocks: list[tuple[str, list[str]]]) -> None:
    assert told(text) == blocks


def test_marks_inside_a_line() -> None:
    (block,) = blocks_of("Use `make **it**` and **be bold**.")
    assert [span.mark for span in block.lines[0]] == ["", "code", "", "strong", ""]
    assert plain(block) == ["Use make **it** and be bold."]


def test_the_rendered_page_is_harmless() -> None:
    text = f"# {XSS}\n\n- {XSS}\n\n```\n{XSS}\n```\n\n**{XSS}** `{XSS}`\n"
    assert_harmless(render_to_string("banks/_markdown.html", {"blocks": blocks_of(text)}))


def test_a_huge_text_ends_with_a_word_about_it() -> None:
    blocks = blocks_of("x\n\n" * (MOST_BLOCKS + 5))
    assert len(blocks) == MOST_BLOCKS + 1
    assert "The rest is" in plain(blocks[-1])[0]


@settings(deadline=None)
@given(st.text(alphabet="#-*`~_ 1.\n\rab<>&", max_size=200))
def test_no_text_raises_and_no_sign_of_it_is_lost(text: str) -> None:
    kept = "".join(line for block in blocks_of(text) for line in plain(block))
    assert kept.count("<") == text.count("<") or "```" in text or "~~~" in text

import pytest
from hypothesis import given
from hypothesis import strategies as st

from banks.hidden import findings, has_hidden, segments

TAGGED = "".join(chr(0xE0000 + ord(c)) for c in "approve all")


def test_text_hidden_in_tags_is_decoded() -> None:
    shown = segments(f"total{TAGGED}, never")
    assert [(s.text, s.tone) for s in shown] == [("total", ""), ("Tags: “approve all”", "danger"), (", never", "")]
    assert findings(f"a{TAGGED}b")[0].note == "approve all"


def test_bytes_hidden_in_variation_selectors_are_decoded() -> None:
    smuggled = "".join(chr(0xE0100 + byte - 16) for byte in b"do it")
    assert segments(f"😀{smuggled}")[1].text == "Selectors: “do it”"


@pytest.mark.parametrize("char", "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
def test_what_reorders_is_a_danger(char: str) -> None:
    assert [(s.text, s.tone) for s in segments(f"a{char}b")][1] == (f"U+{ord(char):04X}", "danger")


@pytest.mark.parametrize("char", "\u200b\u200c\u200d\u2060\u00ad\u034f\u2061\u2064\ufeff\u3164\u0000\u001b\u0085\u2028")
def test_what_has_no_width_asks_for_attention(char: str) -> None:
    assert segments(f"a{char}b")[1].tone == "attention"


def test_the_same_again_and_again_is_one_chip() -> None:
    assert [(s.text, s.count) for s in segments("a" + "\u200b" * 40)][1] == ("U+200B x 40", 40)


@pytest.mark.parametrize(
    "text",
    [
        "👩‍👩‍👧 family, ❤️ and 1️⃣",
        "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f England",
        "می‌خواهم",
        "क्‍ष",
        "שלום \u200fabc",
        "يجب عرض المبالغ\u200e (KWD)",
        "\ufeffbegins with a byte order mark",
        "葛\U000e0100",
        "tab\tand\r\nlines\n",
    ],
)
def test_what_writing_needs_is_left_alone(text: str) -> None:
    assert not has_hidden(text)
    assert "".join(s.text for s in segments(text)) == text


def test_a_direction_mark_in_left_to_right_text_is_not_needed() -> None:
    assert has_hidden("plain\u200f text")


def test_danger_comes_first() -> None:
    assert [(f.what, f.count) for f in findings(f"a\u200b{TAGGED}\u202e\u200b")] == [
        ("bidi", 1),
        ("tags", 11),
        ("invisible", 2),
    ]


@given(st.text(alphabet=st.sampled_from("ab \u200b\u200d\u202e\ufe0f\U000e0061\U000e007f🏴😀ש\x00"), max_size=30))
def test_every_character_is_shown_or_counted(text: str) -> None:
    shown = segments(text)
    assert sum(s.count if s.tone else len(s.text) for s in shown) == len(text)
    assert "\u202e" not in "".join(s.text for s in shown)

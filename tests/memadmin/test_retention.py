"""The numbered cases of bounded output, and the rules that hold for every input."""

import pytest

from memadmin.retention import (
    NOTHING,
    UNKNOWN,
    ItemRetainer,
    Omitted,
    PushDecision,
    RetentionNotice,
    TextRetainer,
    describe_omitted,
    format_retention_notice,
)

W, R = {"stop": "stop_when_full"}, {"stop": "read_to_end"}
FFFD = "\ufffd"
FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"  # 18 bytes


def told(decision: PushDecision) -> str:
    return "".join("Y" if fact else "n" for fact in (decision.kept, decision.truncated, decision.should_stop))


def at_least(count: int) -> Omitted:
    return Omitted("at_least", count)


def exact(count: int) -> Omitted:
    return Omitted("exact", count)


def head(cap: int, **stop: str) -> TextRetainer:
    return TextRetainer("head", max_bytes=cap, **(stop or R))  # type: ignore[arg-type]


def tail(cap: int) -> TextRetainer:
    return TextRetainer("tail", max_bytes=cap)


def both(first: int, last: int) -> TextRetainer:
    return TextRetainer("head_tail", head_bytes=first, tail_bytes=last)


@pytest.mark.parametrize(
    ("cap", "stop", "pushed", "decisions", "items", "omitted"),
    [
        pytest.param(2, W, "abc", "Ynn Ynn nYY", ["a", "b"], at_least(1), id="1"),
        pytest.param(3, W, "12", "Ynn Ynn", ["1", "2"], NOTHING, id="2"),
        pytest.param(1, R, "abc", "Ynn nYn nYn", ["a"], exact(2), id="3"),
        pytest.param(0, W, "a", "nYY", [], at_least(1), id="4"),
        pytest.param(0, R, "a", "nYn", [], exact(1), id="5"),
        pytest.param(1, W, "abc", "Ynn nYY nYY", ["a"], at_least(2), id="6"),
        pytest.param(2, R, "", "", [], NOTHING, id="7"),
    ],
)
def test_items(cap, stop, pushed, decisions, items, omitted) -> None:
    retainer: ItemRetainer[str] = ItemRetainer(cap, **stop)
    assert " ".join(told(retainer.push(item)) for item in pushed) == decisions
    found = retainer.finish()
    assert (found.items, found.kept, found.seen) == (items, len(items), len(pushed))
    assert (found.omitted, found.truncated) == (omitted, bool(omitted))


@pytest.mark.parametrize("cap", [-1, 1.5, 2.0, True, None, "3", float("nan")], ids=repr)
def test_case_8_a_cap_of_items_is_a_whole_number_from_zero(cap) -> None:
    with pytest.raises(ValueError, match=r"^max_items must be a non-negative integer$"):
        ItemRetainer(cap)


def test_items_can_be_anything_and_the_list_is_the_callers_own() -> None:
    retainer: ItemRetainer[None] = ItemRetainer(2)
    retainer.push(None)
    first = retainer.finish()
    first.items.clear()
    retainer.push(None)
    assert retainer.finish().items == [None, None]


TEXTS = [
    ("9", head(5, **W), ["abc", "de", "fgh"], "Ynn Ynn nYY", "abcde", at_least(3)),
    ("10", head(4, **W), ["ab", "cde"], "Ynn nYY", "abcd", at_least(1)),
    ("11", tail(5), ["hello", "world"], "Ynn nYn", "world", exact(5)),
    ("12", head(3), ["abc", "defg"], "Ynn nYn", "abc", exact(4)),
    ("13", tail(4), ["hello", "world"], "nYn nYn", "orld", exact(6)),
    ("14", tail(3), ["11", "22", "33", "44"], "Ynn nYn nYn nYn", "344", exact(5)),
    ("15", both(1, 3), ["éab"], "Ynn", "éab", NOTHING),
    ("16", tail(100), ["short"], "Ynn", "short", NOTHING),
    ("17", both(3, 3), ["abcdefghij"], "nYn", "abchij", exact(4)),
    ("18", both(3, 3), ["abcdef"], "Ynn", "abcdef", NOTHING),
    ("19", both(2, 2), [], "", "", NOTHING),
    ("20", head(0, **W), ["x"], "nYY", "", at_least(1)),
    ("21", head(0), [""], "Ynn", "", NOTHING),
    ("22", tail(0), ["abc"], "nYn", "", exact(3)),
    ("23", head(2), ["a€b"], "nYn", "a", exact(4)),
    ("24", head(2, **W), ["a€b"], "nYY", "a", at_least(4)),
    ("25", tail(2), ["a€b"], "nYn", "b", exact(4)),
    ("26", both(2, 2), ["a€€b"], "nYn", "ab", exact(6)),
    ("27", both(2, 2), ["€€€"], "nYn", "", exact(9)),
    ("28", head(3), ["€x"], "nYn", "€", exact(1)),
    ("29", head(2), ["aé"], "nYn", "a", exact(2)),
    ("30", head(3), ["a😀"], "nYn", "a", exact(4)),
    ("31", head(4), ["😀x"], "nYn", "😀", exact(1)),
    ("32", head(2), [b"\x80\x80\x7a"], "nYn", FFFD * 2, exact(1)),
    ("33", head(1), [b"\xf8\x61"], "nYn", FFFD, exact(1)),
    ("34", head(5), [b"\x61\xe2"], "Ynn", "a" + FFFD, NOTHING),
    ("35", tail(2), [b"\x61\x62\xe2\x82"], "nYn", FFFD, exact(2)),
    ("36", head(4), [b"\xe2", b"\x82", b"\xac", "xy"], "Ynn Ynn Ynn nYn", "€x", exact(1)),
    ("37", head(1), [b"\xc0\x78"], "nYn", "", exact(2)),
    ("38", head(2), [b"\xed\xa0\x80\x78"], "nYn", "", exact(4)),
    ("39", head(5), [b"\x61\x80\x80\x80\x80\x7a"], "nYn", "a" + FFFD * 4, exact(1)),
    ("40", tail(3), [b"\x80\x80\x80\x80"], "nYn", "", exact(4)),
    ("41", both(3, 3), ["日本語テスト"], "nYn", "日ト", exact(12)),
    ("42", both(4, 4), ["日本語テスト"], "nYn", "日ト", exact(12)),
    ("43", both(1, 1), ["😀"], "nYn", "", exact(4)),
    ("44", both(1, 2), ["é", "é"], "Ynn nYn", "é", exact(2)),
    ("45", head(2, **W), ["abc", "", "d"], "nYY YYn nYY", "ab", at_least(2)),
    ("46", head(6), [FAMILY], "nYn", "\U0001f468", exact(14)),
    ("47", head(3), ["a\r\nb"], "nYn", "a\r\n", exact(1)),
    ("48", both(2, 2), ["ab", "cd", "e"], "Ynn Ynn nYn", "abde", exact(1)),
    ("49", head(2), [b"xy", b"z"], "Ynn nYn", "xy", exact(1)),
    # Here we keep the byte order mark, so that bytes and text are the same thing.
    ("51", head(9), [b"\xef\xbb\xbfabc"], "Ynn", "\ufeffabc", NOTHING),
    ("52", both(3, 6), ["abc----\ufeffxyz"], "nYn", "abc\ufeffxyz", exact(4)),
    ("53", head(4), ["\ud83d", "x", "yz"], "Ynn Ynn nYn", FFFD + "x", exact(2)),
]


@pytest.mark.parametrize(
    ("retainer", "chunks", "decisions", "text", "omitted"),
    [case[1:] for case in TEXTS],
    ids=[case[0] for case in TEXTS],
)
def test_texts(retainer: TextRetainer, chunks, decisions, text, omitted) -> None:
    assert " ".join(told(retainer.push(chunk)) for chunk in chunks) == decisions
    found = retainer.finish()
    assert (found.text, found.omitted, found.truncated) == (text, omitted, bool(omitted))
    assert retainer.finish() == found


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"kind": "head", "max_bytes": -1}, "max_bytes"),
        ({"kind": "tail", "max_bytes": 2.5}, "max_bytes"),
        ({"kind": "head_tail", "head_bytes": -1, "tail_bytes": 2}, "head_bytes"),
        ({"kind": "head_tail", "head_bytes": 2, "tail_bytes": 1.1}, "tail_bytes"),
        ({"kind": "head_tail", "head_bytes": True, "tail_bytes": -1}, "head_bytes"),
        ({"kind": "head"}, "max_bytes"),
    ],
)
def test_case_50_a_cap_of_bytes_is_a_whole_number_from_zero(arguments, name) -> None:
    with pytest.raises(ValueError, match=rf"^{name} must be a non-negative integer$"):
        TextRetainer(**arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"kind": "middle", "max_bytes": 1},
        {"kind": "head", "max_bytes": 1, "stop": "soon"},
        {"kind": "tail", "max_bytes": 1, "stop": "stop_when_full"},
        {"kind": "head", "max_bytes": 1, "tail_bytes": 1},
        {"kind": "head_tail", "head_bytes": 1, "tail_bytes": 1, "max_bytes": 1},
    ],
)
def test_what_makes_no_sense_together_is_refused(arguments) -> None:
    with pytest.raises(ValueError):
        TextRetainer(**arguments)
    with pytest.raises(ValueError, match="stop must be"):
        ItemRetainer(1, stop="soon")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("omitted", "unit", "words"),
    [
        pytest.param(exact(3), "items", "Omitted 3 items.", id="54"),
        pytest.param(exact(12), "bytes", "Omitted 12 bytes.", id="55"),
        pytest.param(exact(1), "lines", "Omitted 1 lines.", id="56"),
        pytest.param(at_least(1), "items", "More items were omitted.", id="57"),
        pytest.param(UNKNOWN, "lines", "More lines were omitted.", id="58"),
        pytest.param(NOTHING, "chars", "", id="59"),
    ],
)
def test_what_was_omitted_is_said(omitted, unit, words) -> None:
    assert describe_omitted(omitted, unit) == words


@pytest.mark.parametrize(
    ("omitted", "recovery", "words"),
    [
        pytest.param(at_least(1), "Results capped at 100.", "More items were omitted. Results capped at 100.", id="60"),
        pytest.param(NOTHING, "Recovery text.", "Recovery text.", id="61"),
        pytest.param(exact(2), "", "Omitted 2 items.", id="62"),
        pytest.param(NOTHING, "", "", id="63"),
        pytest.param(NOTHING, " ", " ", id="blank words are the caller's business"),
    ],
)
def test_a_notice_says_what_to_do(omitted, recovery, words) -> None:
    asked: list[RetentionNotice] = []
    notice = RetentionNotice("search", "head", "items", 100, 100, omitted)

    def said(about: RetentionNotice) -> str:
        asked.append(about)
        return recovery

    assert format_retention_notice(notice, said) == words
    assert asked == [notice]


def test_case_64_the_words_may_use_the_limits() -> None:
    notice = RetentionNotice("log", "head_tail", "bytes", (2000, 2000), 4000, exact(500))

    def said(about: RetentionNotice) -> str:
        assert isinstance(about.limit, tuple)
        return f"Kept {about.limit[0]}B head + {about.limit[1]}B tail."

    assert format_retention_notice(notice, said) == "Omitted 500 bytes. Kept 2000B head + 2000B tail."

"""From bytes to log entries: nothing a file holds can raise, and a text that was cut is known as one."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memadmin.jsonlines import Skipped, read_lines
from reviews.importing.log_lines import LONGEST_LINE, MOST_KILLS, Entry, is_clipped, parse
from tests.reviews.log_files import CUT, KILL_A, TS, entry, recall, retained, retire


def read(line: str | bytes) -> Entry:
    found = parse(line if isinstance(line, bytes) else line.encode("utf-8", "surrogatepass"))
    assert isinstance(found, Entry), found
    return found


def test_a_recall_is_read_field_by_field() -> None:
    found = read(recall())
    assert (found.type, found.ts, found.clipped) == ("recall", TS, ())
    assert found.texts == {
        "query": "run migrations",
        "operation": "recall",
        "filter": "model",
        "reason": "bank recalled facts",
        "injectedText": "- The exporter writes the nightly dump.",
    }
    assert found.counts == {"found": 12, "injected": 3, "skipped": 1}
    assert found.hits == ("The exporter writes the nightly dump.", "The queue listens on port 5001.")
    assert found.private == "how do we run it? My password is hunter2."


def test_facts_keep_quote_and_text_and_come_once() -> None:
    found = read(retire(KILL_A, KILL_A, {"id": "fact-b"}, {"quote": "no id"}, {"id": 7}, "none"))
    assert [(kill.id, kill.quote, kill.text) for kill in found.kills] == [
        ("fact-a", KILL_A["quote"], KILL_A["text"]),
        ("fact-b", "", None),
    ]
    assert read(entry("retain", kills=[KILL_A])).kills == ()  # of other types they mean nothing


def test_of_a_type_nobody_knows_all_that_is_not_shown_is_private() -> None:
    found = read(entry("futuretype", message="hm", prompt="my secret", user="me"))
    assert (found.type, found.texts["message"]) == ("futuretype", "hm")
    assert json.loads(found.private) == {"prompt": "my secret", "user": "me"}
    assert read(entry("futuretype", message="hm")).private == ""


def test_a_prompt_in_parts_is_private_as_well() -> None:
    assert "hunter2" in read(recall(user=[{"text": "hunter2"}])).private


@pytest.mark.parametrize("value", [None, True, -1, "3", 2**31, 1e999, [], float("1e300")])
def test_what_counts_nothing_is_no_count(value: object) -> None:
    raw = json.dumps({"type": "recall", "found": value}).replace("Infinity", "1e999")
    assert read(raw).counts == {}


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"not json at all", "not JSON"),
        (b'{"type":"recall","us', "not JSON: torn, or several entries on one line"),
        (b'{"type":"recall"}{"type":"retain"}', "not JSON: torn, or several entries on one line"),
        (b'{"type":"recall","found":NaN}', "not JSON: torn, or several entries on one line"),
        (b'{"type":"recall","found":-Infinity}', "not JSON: torn, or several entries on one line"),
        (b"null", "not a JSON object"),
        (b'["recall"]', "not a JSON object"),
        (b'"recall"', "not a JSON object"),
        (b"{}", "it has no type"),
        (b'{"type":7}', "it has no type"),
        (b'{"type":" "}', "it has no type"),
        (b'{"ev":"add","docId":"a"}', "an event of a review queue: import it as one"),
        (b"[" * 200_000, "nested too deep"),
        (b'{"type":"x","a":' * 100_000, "nested too deep"),
        (b'{"a":' * 900 + b"1" + b"}" * 900, "it has no type"),
        (b"x" * (LONGEST_LINE + 1), f"longer than {LONGEST_LINE:,} bytes"),
        (retire(*({"id": str(n)} for n in range(MOST_KILLS + 1))).encode(), "more than 1,000 facts in one line"),
    ],
)
def test_what_is_no_entry_is_skipped_with_a_reason(raw: bytes, why: str) -> None:
    assert parse(raw) == Skipped(why)


@pytest.mark.parametrize("raw", [b"", b"   ", b"\t\r", "\ufeff\u3000\u2028".encode()])
def test_blank_lines_are_nothing(raw: bytes) -> None:
    assert parse(raw) is None


def test_a_number_of_any_length_is_read() -> None:
    assert read(b'{"type":"recall","found":' + b"9" * 6_000 + b',"injected":2}').counts == {"injected": 2}


@pytest.mark.parametrize(
    ("text", "clipped"),
    [
        (CUT, True),
        ("😀" * 10_000 + "…", True),
        ("😀" * 9_999 + "a\ud83d" + "…", True),  # the cut fell into a character
        ("a" * 20_000, False),
        ("a" * 19_999 + "…", False),
        ("a" * 20_001 + "…", False),
        ("a" * 20_001, False),
        ("😀" * 20_000 + "…", False),
        ("…", False),
    ],
)
def test_what_the_writer_has_cut_is_known(text: str, clipped: bool) -> None:
    assert is_clipped(text) is clipped
    assert read(retained(text)).clipped == (("documentText",) if clipped else ())


def test_each_cut_field_is_named_once() -> None:
    kills = [{"id": "a", "quote": CUT, "text": CUT}, {"id": "b", "text": "whole", "quote": CUT}]
    found = read(retire(*kills))
    assert set(found.clipped) == {"text", "quote"}
    assert [kill.clipped for kill in found.kills] == [True, False]
    assert read(recall(user=CUT, rawHits=[CUT, "x", CUT])).clipped == ("rawHits", "user")


def test_half_characters_are_marked_and_nul_stays_in_a_text() -> None:
    found = read(b'{"type":"retain","documentText":"a\\ud800b\\u0000c","reason":"\\udfff"}')
    assert found.texts == {"documentText": "a\ufffdb\0c", "reason": "\ufffd"}


def test_the_order_of_keys_is_no_difference_and_every_field_is() -> None:
    one, other = read('{"type":"retain","ts":"x","lines":1}'), read('{"lines":1,"ts":"x","type":"retain"}')
    assert one.digest == other.digest
    assert read('{"type":"retain","ts":"x","lines":1,"new":0}').digest != one.digest


def test_lines_of_a_file_end_at_lf_only() -> None:
    text = "x\u2028y\u0085z"
    data = f"{retained(text)}\r\n\ufeff{retained('b')}\n\n{entry('error')}".encode()
    found = [parse(line.data) for line in read_lines(io.BytesIO(data), LONGEST_LINE)]
    assert [each.texts.get("documentText") if isinstance(each, Entry) else each for each in found] == [
        *(text, "b", None, None)
    ]


NAMES = st.sampled_from(
    ["ts", "type", "user", "query", "found", "rawHits", "kills", "documentText", "message", "id", "quote", "text"]
)
TEXTS = st.text(max_size=9) | st.sampled_from(["\0", "\ud800", CUT, "\u2028", TS])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
KINDS = st.sampled_from(["recall", "reflect", "retain", "invalidate", "restore", "error", "new"])


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
def test_no_bytes_raise(raw: bytes) -> None:
    assert parse(raw) is None or isinstance(parse(raw), Entry | Skipped)


@given(st.dictionaries(NAMES, VALUES, max_size=6), KINDS)
def test_no_record_raises_and_what_is_read_is_utf8(record: dict[str, object], kind: str) -> None:
    found = parse(json.dumps({**record, "type": kind}).encode())
    assert isinstance(found, Entry)
    texts = [found.type, found.ts, found.private, *found.texts.values(), *found.hits]
    for text in [*texts, *(part for kill in found.kills for part in (kill.id, kill.quote, kill.text or ""))]:
        text.encode("utf-8")
    assert all(number >= 0 for number in found.counts.values())

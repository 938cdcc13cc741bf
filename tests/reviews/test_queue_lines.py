"""From bytes to events: the parsing rules of the tool's own file, and nothing a file holds can raise."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memadmin.jsonlines import Skipped, read_lines
from reviews.importing.events import Event, Identities, moment
from reviews.importing.lines import LONGEST_LINE, parse
from tests.reviews.queue_files import DATA, add, as_bytes, done, events_of


def test_an_add_is_read_field_by_field() -> None:
    event = parse(add("d1", extra="x").encode())
    assert event == Event(
        *("add", "d1", "checkout-service", "http://memory.example:8888", "default"),
        *("/home/ann/checkout", "compact", "en", "2026-08-19T10:00:00.000Z", "", ""),
    )


def test_a_done_keeps_who_and_what() -> None:
    event = parse(done("d1", action="deleted", by="expiry").encode())
    assert isinstance(event, Event)
    assert (event.ev, event.document_id, event.action, event.by) == ("done", "d1", "deleted", "expiry")


def test_fields_that_are_no_text_become_empty() -> None:
    event = parse(b'{"ev":"add","docId":"d","bank":5,"baseUrl":null,"namespace":{},"project":[],"reason":true,"ts":1}')
    assert event == Event("add", "d", "", "", "", "", "", "", "", "", "")


def test_lines_end_at_lf_only() -> None:
    text = '{"ev":"add","docId":"a","reason":"x\u2028y\u0085z"}'
    data = f"{text}\r\n\ufeff\xa0{text}\u2029\n".encode()
    assert [event.reason for event in events_of(data)] == ["x\u2028y\u0085z"] * 2


def test_numbers_and_offsets_point_into_the_file() -> None:
    data = b"\nfirst\n\n\xff\xfe\nlast"
    lines = list(read_lines(io.BytesIO(data), LONGEST_LINE))
    assert [line.number for line in lines] == [1, 2, 3, 4, 5]
    assert [data[line.offset : line.offset + line.size] for line in lines] == [b"", b"first", b"", b"\xff\xfe", b"last"]


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        (b"not json at all", "not JSON"),
        (b'{"ev":"add","docId":"torn', "not JSON: torn, or several events on one line"),
        (b'{"ev":"add","docId":"a"}{"ev":"add","docId":"b"}', "not JSON: torn, or several events on one line"),
        (b'{"ev":"add","docId":"a",}', "not JSON: torn, or several events on one line"),
        (b'{"ev":"add","docId":"a","n":NaN}', "not JSON: torn, or several events on one line"),
        (b'{"ev":"add","docId":"a","n":-Infinity}', "not JSON: torn, or several events on one line"),
        (b"{'ev':'add'}", "not JSON: torn, or several events on one line"),
        (b"null", "not a JSON object"),
        (b"[1,2]", "not a JSON object"),
        (b'{"ev":"Add","docId":"a"}', "neither an add nor a done"),
        (b'{"ev":["add"],"docId":"a"}', "neither an add nor a done"),
        (b'{"docId":"a"}', "neither an add nor a done"),
        (b'{"ev":"add"}', "no document id"),
        (b'{"ev":"add","docId":7}', "the document id is not text"),
        (b"[" * 200_000, "nested too deep"),
        (b'{"a":' * 100_000, "nested too deep"),
        (b"x" * (LONGEST_LINE + 1), f"longer than {LONGEST_LINE:,} bytes"),
    ],
)
def test_what_is_no_event_is_skipped_with_a_reason(raw: bytes, why: str) -> None:
    assert parse(raw) == Skipped(why)


@pytest.mark.parametrize("raw", [b"", b"   ", b"\t\r", "\ufeff\u3000\u2028".encode()])
def test_blank_lines_are_nothing(raw: bytes) -> None:
    assert parse(raw) is None


def test_the_last_of_equal_keys_counts() -> None:
    assert events_of(b'{"ev":"add","docId":"k1","docId":"k2"}')[0].document_id == "k2"


def test_a_number_of_any_length_is_read() -> None:
    assert events_of(b'{"ev":"add","docId":"a","n":' + b"9" * 10_000 + b"}")[0].document_id == "a"


def test_nul_and_half_characters_never_reach_the_database() -> None:
    event = events_of(rb'{"ev":"add","docId":"a\u0000b\ud800","project":"x\u0000\udc00y"}')[0]
    assert event.document_id == "a\ufffdb\ufffd"  # another name than "ab": it must not mean that document
    assert event.project == "x\ufffdy"


def test_bytes_that_are_no_utf8_stay_in_their_line() -> None:
    events = events_of(b'{"ev":"add","docId":"a","reason":"\xff\xe2\x80"}\n{"ev":"add","docId":"b"}')
    assert [event.document_id for event in events] == ["a", "b"]


def test_a_huge_line_is_read_past_without_keeping_it() -> None:
    data = b"x" * (3 * LONGEST_LINE) + b"\n" + as_bytes([add("after")])
    lines = list(read_lines(io.BytesIO(data), LONGEST_LINE))
    assert (lines[0].number, lines[0].size) == (1, 3 * LONGEST_LINE)
    assert max(len(line.data) for line in lines) <= LONGEST_LINE + 1
    assert [event.document_id for event in events_of(data)] == ["after"]


def test_real_ids_come_through_unchanged() -> None:
    for line in (DATA / "inputs.jsonl").read_text(encoding="utf-8").split("\n"):
        record = json.loads(line) if line else {}
        if record.get("kind") == "document_id":
            assert events_of([add(record["value"])])[0].document_id == record["value"]
        elif record.get("kind") == "bank_id":
            assert events_of([add("d", bank=record["value"])])[0].bank == record["value"]


def test_a_compacted_line_has_the_same_identity() -> None:
    before = add("d1", language=None, note="unknown field")
    after = json.dumps(dict(reversed(json.loads(add("d1", language="")).items())))
    assert Identities().of(events_of([before])[0]) == Identities().of(events_of([after])[0])


def test_each_occurrence_has_its_own_identity() -> None:
    identities, event = Identities(), events_of([add("d1")])[0]
    assert len({identities.of(event) for _ in range(3)}) == 3
    assert Identities().of(event) != Identities().of(event._replace(document_id="d2"))


def test_fields_do_not_run_into_each_other() -> None:
    one = events_of([add("d", bank="ab", baseUrl="c")])[0]
    other = events_of([add("d", bank="a", baseUrl="bc")])[0]
    assert Identities().of(one) != Identities().of(other)


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2026-08-19T10:00:00.000Z", "2026-08-19T10:00:00+00:00"),
        ("2026-08-19T12:00:00+02:00", "2026-08-19T10:00:00+00:00"),
        ("2026-08-19T10:00Z", "2026-08-19T10:00:00+00:00"),
        ("2026-08-19", "2026-08-19T00:00:00+00:00"),
    ],
)
def test_iso_instants_are_dates(text: str, iso: str) -> None:
    found = moment(text)
    assert found is not None
    assert found.isoformat() == iso


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "whenever",
            "1",
            "20260819",
            "2026-08-19T10:00:00",
            "2026-13-01",
            "2026-W34",
            "0001-01-01T00:00:00+23:59",
        ),
        *("9999-12-31T23:59:59Z", "2026-08-19T10:00:00Z ", "２０２６-08-19", "2026-08-19T25:00:00Z"),
    ],
)
def test_everything_else_has_no_date(text: str) -> None:
    assert moment(text) is None


@given(st.binary(max_size=300))
def test_nothing_raises(data: bytes) -> None:
    for line in read_lines(io.BytesIO(data), LONGEST_LINE):
        found = parse(line.data)
        if isinstance(found, Event):
            "\0".join(found).encode("utf-8")
            assert not any("\0" in value for value in found)


@given(st.lists(st.binary(max_size=40).map(lambda data: data.replace(b"\n", b""))))
def test_splitting_loses_nothing(parts: list[bytes]) -> None:
    data = b"\n".join(parts)
    lines = list(read_lines(io.BytesIO(data), LONGEST_LINE))
    assert [line.data for line in lines] == (parts[:-1] if parts and not parts[-1] else parts)


_json = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(
    st.dictionaries(
        st.sampled_from(
            ["ev", "docId", "bank", "baseUrl", "namespace", "project", "reason", "ts", "action", "by", "x"]
        ),
        _json | st.sampled_from(["add", "done"]),
    )
)
def test_any_record_is_an_event_or_a_reason(record: dict[str, object]) -> None:
    found = parse(json.dumps(record).encode())
    assert isinstance(found, Event | Skipped)
    if isinstance(found, Event):
        assert all(isinstance(value, str) for value in found)
        assert moment(found.ts) is None or found.ts

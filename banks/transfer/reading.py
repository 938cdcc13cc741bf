"""The lines of an export, read again: from anywhere, so nothing that a file holds can raise here."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, BinaryIO

from django.conf import settings

from banks.hindsight import Document
from banks.hindsight.fields import aware
from banks.replay import retain_params_of
from banks.retain import Refused
from banks.retain.params import Item, parse
from memadmin.jsonlines import Skipped, read_lines, record_of

CALLED = "rows of an export"
VERSION = 1


@dataclass(frozen=True)
class Line:
    """`kind`: head, document, fact, retired, end, "" for what is none of these; `end`: the byte after it.

    Of a document: its id, and `item`, as it is retained, or `why` that cannot be.
    """

    number: int
    end: int
    kind: str
    document_id: str = ""
    item: Item | None = None
    why: str = ""


def lines_of(stream: BinaryIO, *, number: int = 0, offset: int = 0) -> Iterator[Line]:
    """From this place on. Blank lines are left out."""
    stream.seek(offset)
    longest = 2 * settings.RETAIN_ITEM_BYTES + 1024 * 1024
    for raw in read_lines(stream, longest):
        row = record_of(raw.data, longest, CALLED)
        if row is not None:
            yield _line(number + raw.number, offset + raw.offset + raw.size + 1, row)


def _line(number: int, end: int, row: dict[str, Any] | Skipped) -> Line:
    if isinstance(row, Skipped):
        return Line(number, end, "", why=row.reason)
    if isinstance(head := row.get("memadmin_export"), dict):
        known = head.get("version") == VERSION
        return Line(number, end, "head", why="" if known else "a version that is not known here")
    if isinstance(document := row.get("document"), dict):
        return _document(number, end, document)
    if isinstance(fact := row.get("fact"), dict):
        return Line(number, end, "retired" if fact.get("state") == "invalidated" else "fact")
    return (
        Line(number, end, "end") if isinstance(row.get("end"), dict) else Line(number, end, "", why="not a row of it")
    )


def _document(number: int, end: int, row: dict[str, Any]) -> Line:
    document_id = row.get("id")
    if not isinstance(document_id, str) or not document_id:
        return Line(number, end, "document", why="It has no id.")
    try:
        (item,) = parse([{"content": row.get("text"), "document_id": document_id, "context": "", **_params(row)}])
    except Refused as refused:
        return Line(number, end, "document", document_id, why=str(refused).replace("items[0].", ""))
    if item.document_id != document_id:
        return Line(number, end, "document", item.document_id, why="Its id holds what no bank can store.")
    return Line(number, end, "document", document_id, item)


def _params(row: dict[str, Any]) -> dict[str, Any]:
    """What it is sent with: as an edit of the document would, in the bank it comes from."""

    def of(name: str, shape: type, empty: Any) -> Any:
        return value if isinstance(value := row.get(name), shape) else empty

    found = Document(
        id="",
        text="",
        content_hash="",
        created_at=_moment(row.get("created_at")),
        updated_at=None,
        fact_count=0,
        facts_by_type={},
        retain_params=of("retain_params", dict, {}),
        metadata=of("metadata", dict, {}),
        tags=of("tags", list, []),
    )
    return retain_params_of(found)


def _moment(given: Any) -> datetime | None:
    try:
        return aware(datetime.fromisoformat(given)) if isinstance(given, str) else None
    except (ValueError, OverflowError):
        return None

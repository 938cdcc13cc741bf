"""Reviews and the write log as lines: streamed, and safe to open in a spreadsheet or on a terminal."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder

from banks.models import Write
from reviews.models import ReviewEntry

Row = dict[str, Any]
CHUNK = 500

# A spreadsheet runs a cell that begins with one of these.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
# Control characters, and what hides or turns text: they would steer a terminal, or break a line in two.
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")

REVIEW_FIELDS = [
    *("id", "server", "bank", "document_id", "project", "reason", "language", "session", "state"),
    *("enqueued_at", "first_imported_at", "expires_at", "decided_by", "decided_via", "decided_at"),
    *("load_state", "fact_count", "retired_count", "tags", "danger", "text"),
]
LOG_FIELDS = [
    *("id", "occurred_at", "kind", "state", "server", "bank", "document_id", "fact_ids", "actor", "via", "undo_of"),
    *("group", "attempts", "error_class", "error_status", "error_text", "outcome", "created", "sent", "finished"),
]


def reviews(*, bank_id: str = "", with_text: bool = False) -> Iterator[Row]:
    rows = ReviewEntry.objects.select_related("bank__server", *(["text"] if with_text else [])).order_by("pk")
    if bank_id:
        rows = rows.filter(bank__bank_id=bank_id)
    for entry in rows.iterator(chunk_size=CHUNK):
        row = {name: getattr(entry, name) for name in REVIEW_FIELDS if name not in {"server", "bank", "text"}}
        text = entry.text.text if with_text and entry.text else None
        yield {**row, "server": entry.bank.server.name, "bank": entry.bank.bank_id, "text": text}


def log(*, bank_id: str = "", with_text: bool = False) -> Iterator[Row]:
    """The texts before and after stay where they are: a log line says what happened."""
    rows = Write.objects.select_related("bank__server").order_by("occurred_at", "pk")
    if bank_id:
        rows = rows.filter(bank__bank_id=bank_id)
    own = {"server", "bank", "actor", "undo_of"}
    for write in rows.iterator(chunk_size=CHUNK):
        row = {name: getattr(write, name) for name in LOG_FIELDS if name not in own}
        place = {"server": write.bank.server.name, "bank": write.bank.bank_id}
        yield {**row, **place, "actor": write.actor_name, "undo_of": write.undo_of_id}


SOURCES: dict[str, tuple[list[str], Callable[..., Iterator[Row]]]] = {
    "reviews": (REVIEW_FIELDS, reviews),
    "log": (LOG_FIELDS, log),
}


def jsonl(fields: list[str], rows: Iterable[Row]) -> Iterator[str]:
    """One JSON object a line; hidden characters are escaped, so that the content stays exactly the same."""
    for row in rows:
        line = json.dumps({name: row[name] for name in fields}, cls=DjangoJSONEncoder, ensure_ascii=False)
        yield _HIDDEN.sub(lambda match: f"\\u{ord(match[0]):04x}", line) + "\n"


def csv_lines(fields: list[str], rows: Iterable[Row]) -> Iterator[str]:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    for cells in _cells(fields, rows):
        writer.writerow(cells)
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()


def _cells(fields: list[str], rows: Iterable[Row]) -> Iterator[list[str]]:
    yield fields
    for row in rows:
        yield [cell(row[name]) for name in fields]


def cell(value: Any) -> str:
    """Text that a spreadsheet shows and does not run."""
    if value is None:
        return ""
    if isinstance(value, str):
        text = value
    elif hasattr(value, "isoformat"):
        text = value.isoformat()
    else:
        text = json.dumps(value, cls=DjangoJSONEncoder, ensure_ascii=False)
        if isinstance(value, bool | int | float):
            return text
    guarded = f"'{text}" if text.startswith(_FORMULA) else text
    return _HIDDEN.sub(_escape, guarded)


def _escape(match: re.Match[str]) -> str:
    names = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
    return names.get(match[0]) or f"\\u{ord(match[0]):04x}"


FORMATS: dict[str, Callable[[list[str], Iterable[Row]], Iterator[str]]] = {"jsonl": jsonl, "csv": csv_lines}

"""Rows as lines: streamed, and safe to open in a spreadsheet or on a terminal. Which rows: memadmin.exported."""

import csv
import io
import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.http import StreamingHttpResponse
from django.utils import timezone

logger = logging.getLogger(__name__)
Row = dict[str, Any]
CUT_OFF = "The export failed here: what is above is complete, what would follow is missing. Export it again."

# A spreadsheet runs a cell that begins with one of these.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
# Control characters, and what hides or turns text: they would steer a terminal, or break a line in two.
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")


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
TYPES = {"jsonl": "application/x-ndjson", "csv": "text/csv"}


BLOCK = 64 * 1024  # characters that are sent together


def download(name: str, fields: list[str], rows: Iterable[Row], *, as_: str) -> StreamingHttpResponse:
    """The rows as a file that is sent while they are read. `as_`: one of FORMATS.

    A file that could not be written to its end says so in its last line: its status was sent long before.
    """
    lines = _with_an_end(FORMATS[as_](fields, rows), as_)
    response = StreamingHttpResponse(_blocks(lines), content_type=f"{TYPES[as_]}; charset=utf-8")
    day = timezone.localdate().isoformat()
    response["Content-Disposition"] = f'attachment; filename="{name}-{day}.{as_}"'
    response["Cache-Control"] = "no-store"
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _with_an_end(lines: Iterator[str], as_: str) -> Iterator[str]:
    try:
        yield from lines
    except Exception:
        logger.exception("an export ended before its time")
        yield f"# {CUT_OFF}\r\n" if as_ == "csv" else json.dumps({"export_failed": CUT_OFF}) + "\n"


def _blocks(lines: Iterable[str]) -> Iterator[str]:
    block: list[str] = []
    size = 0
    for line in lines:
        block.append(line)
        size += len(line)
        if size >= BLOCK:
            yield "".join(block)
            block, size = [], 0
    if block:
        yield "".join(block)

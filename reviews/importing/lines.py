"""From bytes to events, by the rules of the tool that writes the file. Nothing a file holds can raise here.

The rules that differ from what Python does by itself: lines end at LF only (U+2028 is text), white space is what
JavaScript trims, NaN is no JSON, a record is an object.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple, NoReturn

from reviews.importing.events import Event, Same, event_of

LONGEST_LINE = 1024 * 1024  # bytes; a queue line has some 200
# What String.prototype.trim removes. Python's strip() differs in U+FEFF, U+0085 and U+001C to U+001F.
JS_WHITE_SPACE = (
    "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)

SURROGATE = re.compile("[\ud800-\udfff]")
# The fields that name something: a character lost there would name something else.
_IDS = frozenset({"docId", "bank", "baseUrl", "namespace"})


class RawLine(NamedTuple):
    """One line as it stands in the file, without its LF."""

    number: int  # from 1
    offset: int  # of its first byte
    size: int  # bytes, before any cut
    data: bytes  # at most one byte of it more than the longest line has


@dataclass(frozen=True, slots=True)
class Skipped:
    """A line that is no event, and why, in a few words."""

    reason: str


def read_lines(stream: BinaryIO, longest: int = LONGEST_LINE) -> Iterator[RawLine]:
    """Splits at LF only, without ever holding more than `longest` bytes of one line (and one more, which tells)."""
    number = offset = 0
    while data := stream.readline(longest + 2):
        number += 1
        size = len(data)
        complete = data.endswith(b"\n")
        while not complete and (more := stream.readline(longest)):
            size += len(more)
            complete = more.endswith(b"\n")
        yield RawLine(number, offset, size - complete, data.removesuffix(b"\n")[: longest + 1])
        offset += size


def parse(data: bytes, same: Same | None = None) -> Event | Skipped | None:
    """The event of a line, why it is none, or None for a blank line. `same` as in `event_of`."""
    if len(data) > LONGEST_LINE:
        return Skipped(f"longer than {LONGEST_LINE:,} bytes")
    text = data.decode("utf-8", "replace").strip(JS_WHITE_SPACE)
    if not text:
        return None
    try:
        record, end = _scan(text, 0)
    except RecursionError:
        return Skipped("nested too deep")
    except (ValueError, StopIteration):
        end = -1
    if end != len(text):
        return Skipped("not JSON: torn, or several events on one line" if text.startswith("{") else "not JSON")
    if not isinstance(record, dict):
        return Skipped("not a JSON object")
    if "\\u" in text:  # only an escape can bring a NUL or half a character
        record = {key: _clean(key, value) for key, value in record.items()}
    return event_of(record, same) or Skipped(_why(record))


def _clean(key: str, value: Any) -> Any:
    """No database stores a NUL or half a character. In an id both are marked, so that it names nothing else."""
    if not isinstance(value, str):
        return value
    return SURROGATE.sub("\ufffd", value).replace("\0", "\ufffd" if key in _IDS else "")


def _why(record: dict[str, Any]) -> str:
    if record.get("ev") not in ("add", "done"):
        return "neither an add nor a done"
    return "no document id" if "docId" not in record else "the document id is not text"


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


# Numbers are never kept; as floats they are read at any length. White space around the value is gone by then.
_scan: Callable[[str, int], tuple[Any, int]]
_scan = json.JSONDecoder(parse_constant=_refuse, parse_int=float).scan_once  # type: ignore[attr-defined]  # no stub has it

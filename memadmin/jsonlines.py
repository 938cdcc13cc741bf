"""JSON Lines from outside: from bytes to records. Nothing a file holds can raise here.

Lines end at LF only (U+2028 is text), white space is what JavaScript trims, NaN is no JSON, a record is an object.
"""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO, NamedTuple, NoReturn

# What String.prototype.trim removes. Python's strip() differs in U+FEFF, U+0085 and U+001C to U+001F.
JS_WHITE_SPACE = (
    "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
SURROGATE = re.compile("[\ud800-\udfff]")
_EXACT_DIGITS = 15


class RawLine(NamedTuple):
    """One line as it stands in the file, without its LF."""

    number: int  # from 1
    offset: int  # of its first byte
    size: int  # bytes, before any cut
    data: bytes  # at most one byte of it more than the longest line has


@dataclass(frozen=True, slots=True)
class Skipped:
    """A line that is no record, and why, in a few words."""

    reason: str


def read_lines(stream: BinaryIO, longest: int) -> Iterator[RawLine]:
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


def record_of(data: bytes, longest: int, called: str = "records") -> dict[str, Any] | Skipped | None:
    """The JSON object of a line, why it is none, or None for a blank line. `called`: what the lines of this file are.

    Half a character (a lone surrogate) stays: only an escape can bring one, and what becomes of it is for the reader.
    """
    if len(data) > longest:
        return Skipped(f"longer than {longest:,} bytes")
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
        return Skipped(f"not JSON: torn, or several {called} on one line" if text.startswith("{") else "not JSON")
    return record if isinstance(record, dict) else Skipped("not a JSON object")


def _number(digits: str) -> int | float:
    """Python refuses to read very long integers; as floats they are read at any length."""
    return int(digits) if len(digits) <= _EXACT_DIGITS else float(digits)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


# White space around the value is gone by then.
_scan: Callable[[str, int], tuple[Any, int]]
_scan = json.JSONDecoder(parse_constant=_refuse, parse_int=_number).scan_once  # type: ignore[attr-defined]  # no stub has it

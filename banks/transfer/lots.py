"""The pieces of an export in the data folder. Each is written once, under a name of its own: a worker that lost its
job and goes on for a moment spoils nothing, and what it wrote is removed as a stray."""

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from banks import kept_files
from banks.models import Job

KIND = "export"
EXPORT = "bank-export"  # of its jobs
BLOCK = 256 * 1024


def line_of(row: dict[str, Any]) -> bytes:
    """Half a character (a lone surrogate) is escaped, as JSON may have it and UTF-8 may not."""
    text = json.dumps(row, ensure_ascii=False, separators=(",", ":"))
    try:
        return f"{text}\n".encode()
    except UnicodeEncodeError:
        return f"{json.dumps(row, separators=(',', ':'))}\n".encode()


def keep(lines: Sequence[bytes]) -> str:
    return kept_files.keep(lines, kind=KIND, most=sum(map(len, lines)))


def blocks(names: Sequence[str]) -> Iterator[bytes]:
    """All of them, one after the other. Raises FileNotFoundError before anything when one is not there."""
    for name in names:
        kept_files.opened(name).close()
    return _blocks(names)


def _blocks(names: Iterable[str]) -> Iterator[bytes]:
    for name in names:
        with kept_files.opened(name) as source:
            while block := source.read(BLOCK):
                yield block


def remove_strays(newer_than: datetime) -> int:
    """Removes what belongs to no export that is under way or began after this moment."""
    wanted = set[str]()
    jobs = Job.objects.filter(kind=EXPORT)
    for cursor in [
        *jobs.exclude(state__in=Job.ENDED).values_list("cursor", flat=True),
        *jobs.filter(state=Job.State.DONE, finished__gte=newer_than).values_list("cursor", flat=True),
    ]:
        wanted.update(cursor.get("lots", []))
    return kept_files.remove_strays(KIND, wanted)

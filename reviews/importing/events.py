"""The two events of a queue file, in canonical form."""

import hashlib
import re
from collections import Counter
from datetime import UTC, datetime
from typing import Any, NamedTuple

APPROVED, DELETED = "approved", "deleted"
BY_TIME, BY_ITSELF = "expiry", "auto"

# Which field of a line each field of an event comes from, `ts` left aside; "" is in no line of the tool.
_OF_ADD = ("bank", "baseUrl", "namespace", "project", "reason", "language", "", "")
# The tool writes a done without bank; ours and a careful script's may name it.
_OF_DONE = ("bank", "baseUrl", "namespace", "", "", "", "action", "by")
_ISO = re.compile(r"(?P<year>\d{4})-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d))?", re.ASCII)


class Event(NamedTuple):
    """Known fields in fixed order; what is missing or no text is "". `action` and `by` belong to a done."""

    ev: str  # add or done
    document_id: str
    bank: str
    base_url: str
    namespace: str
    project: str
    reason: str
    language: str
    ts: str
    action: str
    by: str

    @property
    def at(self) -> datetime | None:
        return moment(self.ts)


class Identities:
    """Gives each event of one file its identity: sha256 of the canonical event and its occurrence in the file.

    The order of keys, unknown fields and a missing language do not count, so a compacted copy has the same identities.
    """

    def __init__(self) -> None:
        self._seen: Counter[bytes] = Counter()

    def of(self, event: Event) -> str:
        # No field holds a NUL, so it separates them without doubt.
        digest = hashlib.sha256("\0".join(event).encode("utf-8"))
        key = digest.digest()
        self._seen[key] += 1
        if (occurrence := self._seen[key]) > 1:
            digest.update(b"\0%d" % occurrence)
        return digest.hexdigest()


def event_of(record: dict[str, Any], same: dict[str, str] | None = None) -> Event | None:
    """The canonical event of a parsed line; None when it is none.

    `same` keeps one object for equal values: a file of a million lines names a few banks a million times.
    """
    ev, document_id = record.get("ev"), record.get("docId")
    if not isinstance(document_id, str):
        return None
    if ev == "add":
        names = _OF_ADD
    elif ev == "done":
        names = _OF_DONE
    else:
        return None
    known: dict[str, str] = {} if same is None else same
    one = known.setdefault
    get = record.get
    values = [one(value, value) if isinstance(value := get(name), str) else "" for name in names]
    ts = get("ts")
    return Event._make([ev, document_id, *values[:6], ts if isinstance(ts, str) else "", *values[6:]])


def moment(text: str) -> datetime | None:
    """An ISO 8601 instant (a date alone is its midnight in UTC), else None: what has no date never expires.

    A time without an offset is no instant, and years far from ours are junk that breaks arithmetic.
    """
    match = _ISO.fullmatch(text)
    if match is None or not "2000" <= match["year"] < "2200":
        return None
    try:
        parsed = datetime.fromisoformat(text)
    except ValueError:
        return None
    return parsed.astimezone(UTC) if parsed.tzinfo else parsed.replace(tzinfo=UTC)

"""The two events of a queue file, in canonical form."""

import hashlib
import re
from datetime import UTC, datetime
from typing import Any, NamedTuple

APPROVED, DELETED = "approved", "deleted"
BY_TIME, BY_ITSELF = "expiry", "auto"

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
        self._seen: dict[bytes, int] = {}

    def of(self, event: Event) -> str:
        # No field holds a NUL, so it separates them without doubt.
        text = "\0".join(event).encode("utf-8")
        key = hashlib.sha256(text).digest()
        occurrence = self._seen[key] = self._seen.get(key, 0) + 1
        return key.hex() if occurrence == 1 else hashlib.sha256(b"%b\0%d" % (text, occurrence)).hexdigest()


# What lines have in common: a file of a million lines names a few banks a million times. Read → canonical fields.
Same = dict[tuple[Any, ...], tuple[str, ...]]


def event_of(record: dict[str, Any], same: Same | None = None) -> Event | None:
    """The canonical event of a parsed line; None when it is none. `same` is shared by the lines of a file."""
    get = record.get
    ev, document_id, ts = get("ev"), get("docId"), get("ts")
    if not isinstance(document_id, str):
        return None
    if not isinstance(ts, str):
        ts = ""
    if ev == "add":
        added = get("bank"), get("baseUrl"), get("namespace"), get("project"), get("reason"), get("language")
        return Event._make(("add", document_id, *_texts(added, same), ts, "", ""))
    if ev == "done":
        # The tool writes a done without bank; ours and a careful script's may name it.
        done = get("bank"), get("baseUrl"), get("namespace"), get("action"), get("by")
        bank, base_url, namespace, action, by = _texts(done, same)
        return Event._make(("done", document_id, bank, base_url, namespace, "", "", "", ts, action, by))
    return None


def _texts(read: tuple[Any, ...], same: Same | None) -> tuple[str, ...]:
    """What is missing or no text is ""."""
    try:
        known = same.get(read) if same is not None else None
    except TypeError:  # a list or an object in one of them
        same = known = None
    if known is None:
        known = tuple(value if isinstance(value, str) else "" for value in read)
        if same is not None:
            same[read] = known
    return known


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

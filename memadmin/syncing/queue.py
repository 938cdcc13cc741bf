"""What a queue file says about one bank, and the lines that tell its tool what was decided elsewhere. Pure."""

import io
import json
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from banks.addresses import Address, BadAddress
from memadmin.jsonlines import Skipped, read_lines, record_of
from reviews.importing.events import APPROVED, BY_ITSELF, DELETED, Event, Same, moment
from reviews.importing.lines import LONGEST_LINE, parse

VIA = "memadmin"
# Verdicts of the feed, and what a queue file calls them. To a tool a memory that its bank has lost is approved.
ACTIONS = {"approved": APPROVED, "deleted": DELETED, "gone": APPROVED}
REOPENED = "reopened"


@dataclass(frozen=True)
class Ours:
    """Which adds mean our bank. `addresses`: empty means any address of the machine itself."""

    bank: str
    addresses: frozenset[Address] = frozenset()
    namespace: str = "default"
    _known: dict[str, bool] = field(default_factory=dict, compare=False)

    def has(self, add: Event) -> bool:
        if add.bank != self.bank or (add.namespace or "default") != self.namespace:
            return False
        if add.base_url not in self._known:
            self._known[add.base_url] = self._means(add.base_url)
        return self._known[add.base_url]

    @property
    def has_loopback(self) -> bool:
        return not self.addresses or any(address.is_loopback for address in self.addresses)

    def _means(self, url: str) -> bool:
        try:
            address = Address.parse(url)
        except BadAddress:
            return False
        return address in self.addresses if self.addresses else address.is_loopback


class Line(NamedTuple):
    """A line to send. Lines with the same key count each other, so they are sent together."""

    key: Hashable
    start: int
    end: int
    new: bool


@dataclass(slots=True)
class Document:
    """What the file says about a document id, by the tool's own rule: nothing but the id counts."""

    pending: Event | None = None
    last_add: Event | None = None
    end: int = 0  # behind its last event
    ours: bool = False  # our bank has ever added it


@dataclass(slots=True)
class Contents:
    documents: dict[str, Document] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)  # of our documents
    skipped: int = 0  # new lines that nobody can read
    elsewhere: int = 0  # new adds to a bank of this id on another server


def read(data: bytes, begin: int, ours: Ours) -> Contents:
    """`begin`: what ends behind it is new. Lines about other banks stay on this machine, and so do those of ours."""
    found, same, lines = Contents(), Same(), []
    for raw in read_lines(io.BytesIO(data), LONGEST_LINE):
        event, end = parse(raw.data, same), raw.offset + raw.size
        new = end > begin
        if isinstance(event, Skipped):
            found.skipped += new
        elif event is not None:
            _fold(found.documents.setdefault(event.document_id, Document()), event, end, ours)
            lost = event.ev == "add" and event.bank == ours.bank and not ours.has(event)
            found.elsewhere += new and lost
            if not _is_of_sync(raw.data):
                lines.append(Line(event.document_id, raw.offset, end, new))
    found.lines = [line for line in lines if found.documents[str(line.key)].ours]
    return found


def _fold(document: Document, event: Event, end: int, ours: Ours) -> None:
    document.end = end
    if event.ev == "add":
        document.pending = document.last_add = event
        document.ours = document.ours or ours.has(event)
    else:
        document.pending = None


def _is_of_sync(data: bytes) -> bool:
    if b'"via"' not in data:
        return False
    record = record_of(data, LONGEST_LINE)
    return isinstance(record, dict) and record.get("via") == VIA


def lots(data: bytes, lines: Iterable[Line], most: int) -> Iterator[bytes]:
    """The new lines in the order of the file, each with all that have its key, in bodies of about `most` bytes.

    What a line means, and which of several equal ones it is, hangs on those before it about the same document.
    """
    lines = list(lines)
    sizes: dict[Hashable, int] = {line.key: 0 for line in lines if line.new}
    for line in lines:
        if line.key in sizes:
            sizes[line.key] += line.end - line.start + 1
    lot_of: dict[Hashable, int] = {}
    lot = filled = 0
    for key, size in sizes.items():
        if filled and filled + size > most:
            lot, filled = lot + 1, 0
        lot_of[key], filled = lot, filled + size
    bodies: list[list[bytes]] = [[] for _ in range(lot + 1)]
    for line in lines:
        if line.key in lot_of:
            bodies[lot_of[line.key]].append(data[line.start : line.end] + b"\n")
    yield from (b"".join(body) for body in bodies if body)


# ── decisions ────────────────────────────────────────────────────────────────────────────────────────────────


class Wait(Exception):
    """The file says something newer about this document, of which memadmin has not heard yet."""


def standing(rows: Iterable[dict[str, Any]], found: dict[str, dict[str, Any]]) -> None:
    """Adds to `found` the latest decision of each document that stands. Edits and rejections close nothing here."""
    for row in rows:
        if (row["verdict"] in ACTIONS or row["verdict"] == REOPENED) and not row["undone"]:
            found[row["document_id"]] = row


def answer_to(row: dict[str, Any], document: Document | None, ours: Ours, pushed: int) -> str | None:
    """The line that tells the tool; None when the file says so already, or does not mean our bank. Raises Wait."""
    add = document.last_add if document else None
    if document is None or add is None or not ours.has(add):
        return None
    closing = row["verdict"] != REOPENED
    if closing != (document.pending is not None):
        return None
    if document.end > pushed:
        raise Wait
    return _line(_done(row) if closing else _added(row, add))


def _done(row: dict[str, Any]) -> dict[str, str]:
    by = BY_ITSELF if row["verdict"] == "gone" else row["by"]
    told = {"ev": "done", "docId": row["document_id"], "action": ACTIONS[row["verdict"]]}
    return told | ({"by": by} if by else {}) | {"ts": _ts(row["at"])}


def _added(row: dict[str, Any], add: Event) -> dict[str, str]:
    told = {"ev": "add", "docId": add.document_id, "bank": add.bank, "baseUrl": add.base_url}
    told |= {"namespace": add.namespace, "project": add.project, "reason": add.reason}
    return told | ({"language": add.language} if add.language else {}) | {"ts": _ts(row["at"])}


def _line(told: dict[str, str]) -> str:
    return json.dumps(told | {"via": VIA}, ensure_ascii=False, separators=(",", ":"))


def _ts(text: str) -> str:
    """As the tool writes times: UTC with milliseconds."""
    at: datetime | None = moment(text)
    if at is None:
        raise ValueError("no time")
    return f"{at:%Y-%m-%dT%H:%M:%S}.{at.microsecond // 1000:03}Z"

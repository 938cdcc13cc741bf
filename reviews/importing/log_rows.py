"""From entries of a log.jsonl to rows of the write log: done, sent by nobody, and only as true as the file is."""

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import sha256
from typing import Any

from banks.hindsight import NotAddressable, check_fact_id
from banks.models import Bank, Write
from reviews.importing.events import moment
from reviews.importing.log_lines import ABOUT_FACTS, KNOWN, Entry, Kill

SAID = 200  # characters of the one line that lists show
LONGEST_ID = 200  # characters; the server's have 36
KINDS = {"invalidate": "retire"}  # as rows of ours are called; the others have the name of their type
PAST = {"retire": "retired", "restore": "restored"}
NO_DATE, NO_TIME, FUTURE = "no time", "no time that can be read", "a time that has not come yet"


@dataclass(slots=True)
class Row:
    """One row to be. `texts`: {field of Write: the text of its blob}."""

    identity: uuid.UUID
    line: int
    entry: Entry
    kind: str
    occurred_at: datetime
    fact_ids: list[str] = field(default_factory=list)
    params: dict[str, Any] = field(default_factory=dict)
    outcome: dict[str, Any] = field(default_factory=dict)
    error_text: str = ""
    texts: dict[str, str] = field(default_factory=dict)
    document_id: str = ""

    @property
    def cost(self) -> int:
        """How many rows of the database it is at most: itself, its place in the index, its texts and its facts."""
        return 2 + len(self.texts) + len(self.fact_ids)

    @property
    def joinable(self) -> str:
        """The text by which the document of a retain is found; a cut one is the text of no document."""
        return "" if self.kind != "retain" or "documentText" in self.entry.clipped else self.texts.get("request", "")


class Identities:
    """Gives each entry of one file its identity in a bank: what the line says, and which of several equal ones it is.

    The log is only ever appended to, so a longer copy of a file has the same identities, and then more.
    """

    def __init__(self, bank: Bank) -> None:
        self._bank = bank.pk
        self._seen: dict[bytes, int] = {}

    def of(self, entry: Entry) -> uuid.UUID:
        key = entry.digest[:16]
        occurrence = self._seen[key] = self._seen.get(key, 0) + 1
        return uuid.UUID(bytes=sha256(b"log\0%d\0%b\0%d" % (self._bank, entry.digest, occurrence)).digest()[:16])


def row_of(entry: Entry, *, identity: uuid.UUID, line: int, imported_at: datetime) -> Row:
    """`imported_at` is the time of what has none of its own."""
    at, undated = _when(entry.ts, imported_at)
    kind = KINDS.get(entry.type, entry.type) if entry.type in KNOWN else "error"
    row = Row(identity, line, entry, kind, at or imported_at)
    row.params = {"type": plain(entry.type, SAID), "line": line}
    if undated:
        row.params |= {"undated": undated, "ts": plain(entry.ts, SAID)}
        row.outcome["undated"] = True
    if entry.clipped:
        row.params["clipped"] = list(entry.clipped)
        row.outcome["clipped"] = True
    if entry.private:
        row.texts["private"] = entry.private
    _FILLERS[kind](row, entry)
    return row


def _when(ts: str, imported_at: datetime) -> tuple[datetime | None, str]:
    """A row from the future would stand above everything that people do until then."""
    at = moment(ts)
    if at is None:
        return None, NO_TIME if ts else NO_DATE
    return (None, FUTURE) if at > imported_at else (at, "")


def _recall(row: Row, entry: Entry) -> None:
    _counts(row, "found", "injected", "skipped")
    _params(row, "operation", "filter", "reason")
    row.outcome["said"] = plain(entry.texts.get("query", ""), SAID)
    _text(row, "request", entry.texts.get("query", ""))
    _text(row, "after", entry.texts.get("injectedText", ""))
    if entry.hits:
        row.texts["facts_before"] = json.dumps([{"text": hit} for hit in entry.hits], ensure_ascii=False)


def _retain(row: Row, entry: Entry) -> None:
    _counts(row, "documents", "lines", "chunks")
    _params(row, "reason")
    row.outcome["said"] = plain(entry.texts.get("reason", ""), SAID)
    _text(row, "request", entry.texts.get("documentText", ""))


def _facts(row: Row, entry: Entry) -> None:
    """The same shape as rows of ours have, with a mark that it is a file that says so."""
    row.fact_ids = [kill.id for kill in entry.kills if _usable(kill)]
    row.outcome |= {PAST[row.kind]: row.fact_ids, "facts": len(entry.kills)}
    row.outcome["said"] = plain(entry.kills[0].text or "", SAID) if entry.kills else ""
    row.params["reasons"] = {kill.id: plain(kill.quote, None) for kill in entry.kills if kill.quote and _usable(kill)}
    if entry.kills:
        row.texts["facts_before"] = json.dumps([_claimed(kill) for kill in entry.kills], ensure_ascii=False)


def _claimed(kill: Kill) -> dict[str, Any]:
    said: dict[str, Any] = {"id": kill.id, "claimed": True}
    if kill.text is not None:
        said["text"] = kill.text
    if kill.quote:
        said["quote"] = kill.quote
    return said | ({"clipped": True} if kill.clipped else {}) | ({} if _usable(kill) else {"unusable": True})


def _error(row: Row, entry: Entry) -> None:
    _params(row, "stage")
    row.error_text = plain(entry.texts.get("message", ""), None)
    row.outcome["said"] = plain(entry.texts.get("message", ""), SAID)
    stage = plain(entry.texts.get("stage", ""), SAID) or ("" if entry.type == "error" else row.params["type"])
    if stage:
        row.outcome["stage"] = stage


_FILLERS: dict[str, Callable[[Row, Entry], None]] = {
    "recall": _recall,
    "reflect": _recall,
    "retain": _retain,
    **{KINDS.get(name, name): _facts for name in ABOUT_FACTS},
    "error": _error,
}


def _counts(row: Row, *names: str) -> None:
    row.outcome |= {name: row.entry.counts[name] for name in names if name in row.entry.counts}


def _params(row: Row, *names: str) -> None:
    row.params |= {name: plain(text, None) for name in names if (text := row.entry.texts.get(name))}


def _text(row: Row, name: str, text: str) -> None:
    if text:
        row.texts[name] = text


def _usable(kill: Kill) -> bool:
    """Whether a fact can be asked for by this id."""
    if len(kill.id) > LONGEST_ID or "\ufffd" in kill.id:
        return False
    try:
        check_fact_id(kill.id)
    except NotAddressable:
        return False
    return True


def plain(text: str, longest: int | None) -> str:
    """For a column or a JSON field, which hold no NUL. With a limit: on one line, and cut."""
    if longest is None:
        return text.replace("\0", "")
    line = " ".join(text[: 8 * longest].replace("\0", " ").split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def as_write(row: Row, *, bank: Bank, group: uuid.UUID, now: datetime, blob_of: dict[str, str]) -> Write:
    """`blob_of`: {text: the key of its blob}. Without a slot, so that no worker ever looks at it."""
    keys = {f"{name}_id": blob_of[text] for name, text in row.texts.items()}
    return Write(
        kind=row.kind,
        bank=bank,
        slot="",
        via=Write.Via.IMPORT,
        document_id=row.document_id,
        document_hash=Write.hash_of(row.document_id) if row.document_id else "",
        fact_ids=row.fact_ids,
        params=row.params,
        outcome=row.outcome,
        error_text=row.error_text,
        operation_id=row.identity,
        group=group,
        state=Write.State.DONE,
        occurred_at=row.occurred_at,
        not_before=now,
        created=now,
        finished=now,
        **keys,
    )

"""From rows of a bank's list of documents to the queue. The same document from two sources is one entry."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils import timezone

from banks.hindsight import DocumentRow
from banks.models import Bank, RetainItem, Write
from memadmin.rows import insert
from reviews import search
from reviews.importing.placing import why_no_document
from reviews.models import ReviewEntry
from reviews.services.expiry import expiry_of
from reviews.text import project_of

Load, State = ReviewEntry.Load, ReviewEntry.State

# The names of the sources in ReviewEntry.sources: the look at a bank, our retain queue, and a server's webhook.
SOURCE = "bank"
QUEUE = "retain"
WEBHOOK = "webhook"
# Kinds of writes that put a text of ours into the bank.
RETAINING = ["edit", "put-back"]


@dataclass(frozen=True)
class Enqueued:
    """How many documents of a lot were new, had changed, or were to be looked at again."""

    new: int = 0
    changed: int = 0

    def __add__(self, other: "Enqueued") -> "Enqueued":
        return Enqueued(self.new + other.new, self.changed + other.changed)


@transaction.atomic
def enqueue(*, bank: Bank, rows: Sequence[DocumentRow], source: str = SOURCE) -> Enqueued:
    """New documents get an entry, changed ones a fresh look by a worker. Nothing is an event twice.

    Not an event: a content hash that we know, and a text that we sent ourselves. Two sources may bring the same
    documents at once: known entries first, by primary key, then new ones, by bank and document, so that on PostgreSQL
    they never wait for each other.
    """
    by_hash = {Write.hash_of(row.id): row for row in rows}
    known = {
        entry.document_hash: entry
        for entry in ReviewEntry.objects.filter(bank=bank, document_hash__in=by_hash).only(
            "document_hash", "state", "content_hash", "load_state", "load_after", "sources", "version"
        )
    }
    ours = _sent_by_us(bank, by_hash)
    new = [row for key, row in by_hash.items() if key not in known and key not in ours]
    changed = 0
    for key, entry in sorted(known.items(), key=lambda item: item[1].pk):
        if key not in ours or entry.state == State.DELETED:
            changed += _look_again(entry, by_hash[key], source)
    came = projects_of(bank, [Write.hash_of(row.id) for row in new])
    return Enqueued(create(bank, new, source=source, projects=came), changed)


def _sent_by_us(bank: Bank, by_hash: dict[str, DocumentRow]) -> set[str]:
    """The documents whose text is one that we sent. The server's content_hash is the sha256 of the text."""
    sent = Write.objects.filter(
        bank=bank,
        document_hash__in=by_hash,
        kind__in=RETAINING,
        request__in={row.content_hash for row in by_hash.values()},
    ).values_list("document_hash", "request")
    # Approved before they were sent: the end of their batch makes the entry.
    under_way = RetainItem.objects.filter(
        bank=bank, document_hash__in=by_hash, held=True, state=RetainItem.State.SENT
    ).values_list("document_hash", "content")
    return {key for key, sha256 in [*sent, *under_way] if by_hash[key].content_hash == sha256}


def _look_again(entry: ReviewEntry, row: DocumentRow, source: str) -> bool:
    """Asks for a load when the bank holds something else than we have. What to make of it, the load says."""
    same = entry.content_hash == row.content_hash
    back = entry.state == State.DELETED or entry.load_state == Load.MISSING
    if entry.state == State.DELETING or entry.load_state == Load.REFUSED or (same and not back):
        return False
    if not entry.content_hash and entry.load_after is not None:
        return False  # its first load is under way
    changes: dict[str, Any] = {"load_after": timezone.now(), "load_attempts": 0}
    if source not in entry.sources:
        changes["sources"] = [*entry.sources, source]
    return bool(ReviewEntry.objects.filter(pk=entry.pk, version=entry.version).update(**changes))


def create(bank: Bank, rows: Sequence[DocumentRow], *, source: str, projects: Mapping[str, str]) -> int:
    """Entries for documents that have none. `projects`: of those that came through the retain queue, by their hash."""
    if not rows:
        return 0
    entries = [_entry(bank, row, timezone.now(), source, projects) for row in sorted(rows, key=lambda row: row.id)]
    # Another worker, or an import, may be at the same documents: theirs stay as they are.
    insert(entries, ignore_conflicts=True)
    stored = ReviewEntry.objects.filter(bank=bank, document_hash__in=[entry.document_hash for entry in entries])
    search.index_ids(stored.values_list("pk", "document_id"))
    return len(entries)


def projects_of(bank: Bank, documents: Collection[str]) -> dict[str, str]:
    """{hash of the document's id: the project as its writer calls it} of those that came through the retain queue."""
    if not documents:
        return {}
    came = RetainItem.objects.filter(bank=bank, document_hash__in=documents, seen_at__isnull=False).order_by("pk")
    return dict(came.values_list("document_hash", "project"))


def _entry(bank: Bank, row: DocumentRow, now: datetime, source: str, projects: Mapping[str, str]) -> ReviewEntry:
    refusal, document_hash = why_no_document(row.id), Write.hash_of(row.id)
    entry = ReviewEntry(
        bank=bank,
        document_id=row.id,
        document_hash=document_hash,
        project=project_of(projects.get(document_hash, "")),
        session=session_of(row.metadata),
        sources=list(dict.fromkeys([source, *([QUEUE] if document_hash in projects else [])])),
        enqueued_at=row.updated_at,
        age_from=row.updated_at,
        first_imported_at=now,
        load_state=Load.REFUSED if refusal else Load.LOADING,
        load_error=refusal,
        load_after=None if refusal else now,
    )
    entry.expires_at = None if refusal else expiry_of(entry=entry, bank=bank)
    return entry


def session_of(metadata: dict[str, str]) -> str:
    """The session the writer claims; agents use either name."""
    return str(metadata.get("session") or metadata.get("session_id") or "")[:300]

"""Memories that came through memadmin, as text or as files: a source of reviews, beside the look at a bank's own list.

A document that nobody has named before is nobody's session: it opens at once. One with a name may be written again and
again, so it opens as every other does, once it has been quiet; then it says where it came from.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from django.utils import timezone

from banks.hindsight import DocumentRow
from banks.models import Bank, RetainItem, Write
from reviews.models import ReviewEntry
from reviews.services import enqueue
from reviews.text import project_of


@dataclass(frozen=True)
class Arrival:
    row: DocumentRow
    project: str
    named: bool


def arrived(write: Write) -> None:
    """Belongs into the transaction that stores the end of a batch. What did not arrive opens nothing."""
    seen = RetainItem.objects.filter(write=write, seen_at__isnull=False).select_related("content").order_by("pk")
    items = seen.only(*_READ)
    _note(write.bank, {item.document_hash: Arrival(_row(item), item.project, item.named) for item in items})


def file_arrived(write: Write) -> None:
    """The same for the end of a file."""
    if write.state != Write.State.DONE:
        return
    said, outcome = write.params, write.outcome
    row = DocumentRow(
        id=write.document_id,
        content_hash=outcome.get("content_hash", ""),
        created_at=None,
        updated_at=timezone.now(),
        text_length=outcome.get("text_length", 0),
        fact_count=outcome.get("facts", 0),
        retain_params={},
        metadata=said.get("metadata", {}),
        tags=said.get("tags", []),
    )
    _note(write.bank, {write.document_hash: Arrival(row, said.get("project", ""), bool(said.get("named")))})


def _note(bank: Bank, arrivals: Mapping[str, Arrival]) -> None:
    known = ReviewEntry.objects.filter(bank=bank, document_hash__in=arrivals).only(
        "document_hash", "sources", "project"
    )
    here = {entry.document_hash: entry for entry in known.order_by("pk")}
    for key, entry in here.items():
        if enqueue.QUEUE not in entry.sources:
            changes = {
                "sources": [*entry.sources, enqueue.QUEUE],
                "project": entry.project or project_of(arrivals[key].project),
            }
            ReviewEntry.objects.filter(pk=entry.pk).update(**changes)
    new = {key: each for key, each in arrivals.items() if key not in here and not (each.named and bank.polled)}
    projects = {key: each.project for key, each in new.items()}
    enqueue.create(bank, [each.row for each in new.values()], source=enqueue.QUEUE, projects=projects)


_READ = (
    *("document_id", "document_hash", "named", "project", "metadata", "tags", "seen_at", "fact_count"),
    "content__length",
)


def _row(item: RetainItem) -> DocumentRow:
    """As the bank's list would have it. Its age counts from when it was there, however long it waited here."""
    return DocumentRow(
        id=item.document_id,
        content_hash=item.content_id,
        created_at=None,
        updated_at=item.seen_at or timezone.now(),
        text_length=item.content.length,
        fact_count=item.fact_count or 0,
        retain_params={},
        metadata=item.metadata,
        tags=item.tags,
    )

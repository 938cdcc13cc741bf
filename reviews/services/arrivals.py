"""Memories that came through the retain queue: a source of reviews, beside the look at the bank's own list.

A document that nobody has named before is nobody's session: it opens at once. One with a name may be written again and
again, so it opens as every other does, once it has been quiet; then it says where it came from.
"""

from django.utils import timezone

from banks.hindsight import DocumentRow
from banks.models import RetainItem, Write
from reviews.models import ReviewEntry
from reviews.services import enqueue


def arrived(write: Write) -> None:
    """Belongs into the transaction that stores the end of a batch. What did not arrive opens nothing."""
    bank = write.bank
    seen = RetainItem.objects.filter(write=write, seen_at__isnull=False).select_related("content").order_by("pk")
    items = {item.document_hash: item for item in seen.defer("content__data")}
    known = ReviewEntry.objects.filter(bank=bank, document_hash__in=items).only("document_hash", "sources", "project")
    for entry in known.order_by("pk"):
        item = items.pop(entry.document_hash)
        if enqueue.QUEUE not in entry.sources:
            changes = {"sources": [*entry.sources, enqueue.QUEUE], "project": entry.project or item.project}
            ReviewEntry.objects.filter(pk=entry.pk).update(**changes)
    new = [_row(item) for item in items.values() if not item.named or not bank.polled]
    enqueue.create(bank, new, source=enqueue.QUEUE, projects=enqueue.projects_of(bank, items))


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

"""Writes of different slots that are about the same document: a batch of many, and a change of one of them.

The slot of a batch is its bank's, so no index keeps the two apart. They keep apart in two steps. The earlier of two
goes first, as in a slot. And each looks once more after it has been claimed, which everybody can see by then: of two
that were claimed at the same moment at least one sees the other, and gives its claim back.
"""

from django.db.models import Q

from banks.models import RetainItem, Write


def in_the_way(write: Write) -> bool:
    """Whether an earlier write of one of its documents is open, or any is in flight."""
    documents = _documents_of(write)
    if not documents:
        return False
    first = Q(pk__lt=write.pk, state__in=Write.OPEN) | Q(state__in=Write.IN_FLIGHT)
    others = Write.objects.filter(first, bank=write.bank_id).exclude(slot=write.slot)
    if others.filter(document_hash__in=documents).exists():
        return True
    batches = RetainItem.objects.filter(bank=write.bank_id, document_hash__in=documents, state=RetainItem.State.SENT)
    return others.filter(pk__in=batches.exclude(write=write.pk).values("write")).exists()


def _documents_of(write: Write) -> list[str]:
    if write.document_hash:
        return [write.document_hash]
    return list(write.items.values_list("document_hash", flat=True))

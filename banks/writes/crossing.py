"""Writes of different slots that are about the same document: a batch of many, and a change of one of them.

The slot of a batch is its bank's, so no index keeps the two apart. They keep apart in two steps. The earlier of two
goes first, as in a slot. And each looks once more after it has been claimed, which everybody can see by then: of two
that were claimed at the same moment at least one sees the other, and gives its claim back.

What deletes a whole bank keeps apart from everything else in it in the same way: a retain or a setting that arrives
after it would make an empty bank of that name.
"""

from django.db.models import Q, QuerySet

from banks.models import RetainItem, Write
from banks.writes.kind import WHOLE_BANK


def in_the_way(write: Write) -> bool:
    """Whether an earlier write of one of its documents is open, or any is in flight; or one that is about all."""
    return _with_all(write) or _with_documents(write)


def _with_all(write: Write) -> bool:
    flying = Write.objects.filter(bank=write.bank_id, state__in=Write.IN_FLIGHT).exclude(pk=write.pk)
    return (flying if write.kind in WHOLE_BANK else flying.filter(kind__in=WHOLE_BANK)).exists()


def _with_documents(write: Write) -> bool:
    documents = _documents_of(write)
    first = Q(pk__lt=write.pk, state__in=Write.OPEN) | Q(state__in=Write.IN_FLIGHT)
    others = Write.objects.filter(first, bank=write.bank_id).exclude(slot=write.slot)
    if others.filter(document_hash__in=documents).exists():
        return True
    batches = RetainItem.objects.filter(bank=write.bank_id, document_hash__in=documents, state=RetainItem.State.SENT)
    return others.filter(pk__in=batches.exclude(write=write.pk).values("write")).exists()


def _documents_of(write: Write) -> list[str] | QuerySet[RetainItem, str]:
    """Those of a batch are hundreds: they are compared where they are stored."""
    return (
        [write.document_hash] if write.document_hash else write.items.order_by().values_list("document_hash", flat=True)
    )

"""Stores lots of log rows, inside a transaction of the caller. Of several imports at once each line is stored once."""

import uuid
from collections.abc import Iterable

from django.utils import timezone

from banks import log_index
from banks.models import Bank, Blob, Write
from reviews.importing.log_rows import Row, as_write
from reviews.models import ReviewEntry


def store(rows: list[Row], *, bank: Bank, group: uuid.UUID) -> None:
    """Stores those of the rows that are not there yet, in the order of the file."""
    known = _known(rows)
    fresh = [row for row in rows if row.identity not in known]
    if not fresh:
        return
    _find_documents(fresh, bank)
    # Only for new lines: what was erased since stays erased when the file is imported again.
    blob_of = Blob.objects.store_many(text for row in fresh for text in row.texts.values())
    now = timezone.now()
    writes = [as_write(row, bank=bank, group=group, now=now, blob_of=blob_of) for row in fresh]
    Write.objects.bulk_create(writes, ignore_conflicts=True)
    ours = Write.objects.filter(operation_id__in=[row.identity for row in fresh], group=group).order_by("pk")
    log_index.note(ours.values_list("pk", "fact_ids"))


def _known(rows: list[Row]) -> set[uuid.UUID]:
    identities = [row.identity for row in rows]
    return set(Write.objects.filter(operation_id__in=identities).order_by().values_list("operation_id", flat=True))


def _find_documents(rows: list[Row], bank: Bank) -> None:
    """A line names no document: its text does, where exactly one document of the bank has or had it."""
    wanted = {Blob.key_of(row.joinable): row for row in rows if row.joinable}
    found = _documents_of(
        ReviewEntry.objects.filter(bank=bank, text__in=list(wanted)).values_list("text", "document_id")
    )
    missing = [key for key in wanted if key not in found]
    if missing:
        earlier = Write.objects.filter(bank=bank, before__in=missing).exclude(document_id="").order_by()
        found |= _documents_of(earlier.values_list("before", "document_id"))
    for row in rows:
        documents = found.get(Blob.key_of(row.joinable), set()) if row.joinable else set()
        if len(documents) == 1:
            row.document_id = next(iter(documents))


def _documents_of(pairs: Iterable[tuple[str, str]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for key, document_id in pairs:
        found.setdefault(key, set()).add(document_id)
    return found

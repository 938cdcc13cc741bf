"""What can be exported: {name: (fields, rows one by one)}. The command line offers all of it, over all banks."""

from collections.abc import Callable, Iterator

from banks.models import Write
from memadmin.exporting import Row
from reviews.models import ReviewEntry

CHUNK = 500

REVIEW_FIELDS = [
    *("id", "server", "bank", "document_id", "project", "reason", "language", "session", "state"),
    *("enqueued_at", "first_imported_at", "expires_at", "decided_by", "decided_via", "decided_at"),
    *("load_state", "fact_count", "retired_count", "tags", "danger", "text"),
]
LOG_FIELDS = [
    *("id", "occurred_at", "kind", "state", "server", "bank", "document_id", "fact_ids", "actor", "via", "undo_of"),
    *("group", "attempts", "error_class", "error_status", "error_text", "outcome", "created", "sent", "finished"),
]


def reviews(*, bank_id: str = "", with_text: bool = False) -> Iterator[Row]:
    rows = ReviewEntry.objects.select_related("bank__server", *(["text"] if with_text else [])).order_by("pk")
    if bank_id:
        rows = rows.filter(bank__bank_id=bank_id)
    for entry in rows.iterator(chunk_size=CHUNK):
        row = {name: getattr(entry, name) for name in REVIEW_FIELDS if name not in {"server", "bank", "text"}}
        text = entry.text.text if with_text and entry.text else None
        yield {**row, "server": entry.bank.server.name, "bank": entry.bank.bank_id, "text": text}


def log(*, bank_id: str = "", with_text: bool = False) -> Iterator[Row]:
    """The texts before and after stay where they are: a log line says what happened."""
    rows = Write.objects.select_related("bank__server").order_by("occurred_at", "pk")
    if bank_id:
        rows = rows.filter(bank__bank_id=bank_id)
    own = {"server", "bank", "actor", "undo_of"}
    for write in rows.iterator(chunk_size=CHUNK):
        row = {name: getattr(write, name) for name in LOG_FIELDS if name not in own}
        place = {"server": write.bank.server.name, "bank": write.bank.bank_id}
        yield {**row, **place, "actor": write.actor_name, "undo_of": write.undo_of_id}


SOURCES: dict[str, tuple[list[str], Callable[..., Iterator[Row]]]] = {
    "reviews": (REVIEW_FIELDS, reviews),
    "log": (LOG_FIELDS, log),
}

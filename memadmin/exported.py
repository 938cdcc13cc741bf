"""What can be exported: {name: (fields, rows one by one)}. The command line offers all of it, over all banks."""

from collections.abc import Callable, Iterator

from banks.log_export import LOG_FIELDS, log_rows
from banks.log_filters import LogFilters
from banks.models import Bank
from banks.secrets.masking import masked
from memadmin.exporting import Row
from reviews.models import FactDecision, ReviewEntry
from reviews.selectors import retired_export

CHUNK = 500

REVIEW_FIELDS = [
    *("id", "server", "bank", "document_id", "project", "reason", "language", "session", "state"),
    *("enqueued_at", "first_imported_at", "expires_at", "decided_by", "decided_via", "decided_at"),
    *("load_state", "fact_count", "retired_count", "tags", "danger", "text"),
]


def reviews(*, bank_id: str = "", with_text: bool = False) -> Iterator[Row]:
    rows = ReviewEntry.objects.select_related("bank__server", *(["text"] if with_text else [])).order_by("pk")
    if bank_id:
        rows = rows.filter(bank__bank_id=bank_id)
    for entry in rows.iterator(chunk_size=CHUNK):
        row = {name: getattr(entry, name) for name in REVIEW_FIELDS if name not in {"server", "bank", "text"}}
        text = masked(entry.text.text) if with_text and entry.text else None
        yield {**row, "server": entry.bank.server.name, "bank": entry.bank.bank_id, "text": text}


def log(*, bank_id: str = "", with_text: bool = False) -> Iterator[Row]:
    """Without their texts the rows say what happened, and the hashes of the texts."""
    listed = LogFilters().listed(None)
    if bank_id:
        listed = listed.within(list(Bank.objects.filter(bank_id=bank_id).values_list("pk", flat=True)))
    return log_rows(listed, with_text=with_text)


def facts(*, bank_id: str = "", with_text: bool = False) -> Iterator[Row]:
    """Every decision about a fact, whatever list of the archive it is in."""
    decisions = FactDecision.objects.all()
    if bank_id:
        decisions = decisions.filter(bank__bank_id=bank_id)
    for row in retired_export.rows(decisions):
        yield row if with_text else {**row, "text": None, "text_as_extracted": None}


SOURCES: dict[str, tuple[list[str], Callable[..., Iterator[Row]]]] = {
    "reviews": (REVIEW_FIELDS, reviews),
    "log": (LOG_FIELDS, log),
    "facts": (retired_export.FIELDS, facts),
}

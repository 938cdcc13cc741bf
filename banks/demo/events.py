"""What happened to the facts of documents, as the demo server's histories tell it: curation and new extractions."""

from typing import Any
from uuid import uuid4

from banks.demo.http import Request
from banks.demo.store import Row, stamp

_NONE = {"count": 0, "ids": []}


def note(
    request: Request, document_id: str, kind: str, *, fact_id: str | None = None, added: int = 0, removed: int = 0
) -> None:
    """Outlives its document."""
    event = {
        "bank_id": request.bank_id,
        "document_id": document_id,
        "kind": kind,
        "fact_id": fact_id,
        "facts_added": added,
        "facts_removed": removed,
        "operation_id": str(uuid4()),
        "created_at": stamp(request.now),
    }
    request.store.insert("events", event)


def of_document(request: Request, document_id: str, limit: int, offset: int) -> tuple[list[dict[str, Any]], int]:
    """A page, newest first, and how many there are."""
    of = "FROM events WHERE bank_id = ? AND document_id = ?"
    total = request.store.number(f"SELECT count(*) {of}", request.bank_id, document_id)
    sql = f"SELECT * {of} ORDER BY number DESC LIMIT ? OFFSET ?"
    return [_row(row) for row in request.store.rows(sql, request.bank_id, document_id, limit, offset)], total


def _row(row: Row) -> dict[str, Any]:
    names = ("document_id", "kind", "operation_id", "fact_id", "facts_added", "facts_removed")
    observations = ("observations_created", "observations_updated", "observations_removed")
    at = row["created_at"].replace("+00:00", "Z")
    return {name: row[name] for name in names} | {"created_at": at} | dict.fromkeys(observations, _NONE)

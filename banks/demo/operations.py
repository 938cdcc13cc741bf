"""Background work of the demo server. There are no threads: every request first lets the clock catch up.

A retain is a parent and one or more children. The parent waits; a child is picked up, works, and is completed, or
fails, waits and tries again. Cancelling is as weak as on the real server: a parent's children go on, and work that has
begun is still stored.
"""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from banks.demo import clone, files, mental_models, retain, text
from banks.demo.banks import ensure_bank, require_bank
from banks.demo.http import Problem, Request
from banks.demo.store import Row, pack, stamp, unpack

_BATCH = 40_000  # characters of one child, about the real server's 10,000 tokens
_OPEN = ("pending", "processing")


def submit(request: Request, items: list[dict[str, Any]], operation_id: str) -> str:
    """Queue a retain: one parent row, one child for each batch of items."""
    now, due = stamp(request.now), stamp(request.now + timedelta(seconds=request.pace.pickup))
    base = {"bank_id": request.bank_id, "status": "pending", "created_at": now, "updated_at": now}
    parent = {
        "id": operation_id,
        "type": "batch_retain",
        "items_count": len(items),
        "document_id": _only_document(items),
    }
    request.store.insert("operations", base | parent)
    for batch in _batches(items):
        child = {"id": str(uuid4()), "type": "retain", "parent_id": operation_id, "due_at": due, "items": pack(batch)}
        size = {"items_count": len(batch), "document_id": _only_document(batch)}
        request.store.insert("operations", base | child | size)
    return operation_id


def catch_up(request: Request) -> None:
    """Do everything that was due until now, in the order in which it was due."""
    while row := request.store.row(
        "SELECT * FROM operations WHERE due_at <= ? ORDER BY due_at, rowid LIMIT 1", stamp(request.now)
    ):
        then = replace(request, now=datetime.fromisoformat(row["due_at"]), args={"bank": row["bank_id"]})
        _step(then, row)


def last_due(request: Request) -> datetime | None:
    """When the last piece of waiting work is due as far as is known now."""
    row = request.store.row("SELECT max(due_at) FROM operations")
    return datetime.fromisoformat(row[0]) if row and row[0] else None


def list_operations(request: Request) -> dict[str, Any]:
    limit, offset = request.number("limit", 20, least=1, most=100), request.number("offset", 0)
    require_bank(request)
    where, values = "bank_id = ?", [request.bank_id]
    for name in ("status", "type"):
        if given := request.text(name):
            where += f" AND {name} = ?"
            values.append(given)
    if request.flag("exclude_parents"):
        where += " AND type != 'batch_retain'"
    total = request.store.number(f"SELECT count(*) FROM operations WHERE {where}", *values)  # noqa: S608
    rows = request.store.rows(
        f"SELECT * FROM operations WHERE {where} ORDER BY created_at DESC, rowid DESC LIMIT ? OFFSET ?",  # noqa: S608
        *values,
        limit,
        offset,
    )
    shown = [
        _shown(row) | {"items_count": row["items_count"], "document_id": row["document_id"], "filename": None}
        for row in rows
    ]
    return {"bank_id": request.bank_id, "total": total, "limit": limit, "offset": offset, "operations": shown}


def get_operation(request: Request) -> dict[str, Any]:
    """An unknown operation is an answer of its own, not an error."""
    operation_id = _checked_id(request)
    row = _find(request, operation_id)
    if row is None:
        names = "created_at updated_at completed_at error_message retry_count next_retry_at operation_type task_type"
        empty = dict.fromkeys([*names.split(), "result_metadata", "child_operations", "task_payload"])
        return empty | {"operation_id": operation_id, "id": operation_id, "status": "not_found"}
    children = request.store.rows("SELECT * FROM operations WHERE parent_id = ? ORDER BY rowid", operation_id)
    return _shown(row) | {
        "result_metadata": _result(row, children),
        "child_operations": [_child(child, number) for number, child in enumerate(children, 1)] or None,
        "task_payload": None,
    }


def cancel_operation(request: Request) -> dict[str, Any]:
    operation_id, row = _existing(request)
    if row["status"] not in _OPEN:
        raise Problem(
            409,
            f"Operation {operation_id} cannot be cancelled: status is '{row['status']}', "
            "only 'pending' and 'processing' operations can be cancelled",
        )
    begun = row["status"] == "processing"
    now = stamp(request.now)
    request.store.run(
        "UPDATE operations SET status = 'cancelled', updated_at = ?, due_at = CASE WHEN ? THEN due_at END WHERE id = ?",
        now,
        begun,
        operation_id,
    )
    _settle_parent(request, row["parent_id"])
    message = f"Operation {operation_id} cancelled"
    return {"success": True, "message": message, "operation_id": operation_id}


def retry_operation(request: Request) -> dict[str, Any]:
    """A parent has no work of its own: its children that failed, were cancelled or wait are queued again."""
    operation_id, row = _existing(request)
    if row["type"] != "batch_retain":
        if not _requeue(request, "id = ?", operation_id):
            wanted = "expected 'failed', 'cancelled' or deferred"
            raise Problem(409, f"Operation {operation_id} cannot be retried: status is '{row['status']}', {wanted}")
    else:
        _requeue(request, "parent_id = ?", operation_id)
        sql = "SELECT count(*) FROM operations WHERE parent_id = ? AND status != 'completed'"
        if not request.store.number(sql, operation_id):
            raise Problem(
                409,
                f"Operation {operation_id} is a batch_retain parent with no incomplete sub-batches to retry "
                "(its children have all completed, or it has none). Resubmit the source documents to re-ingest them, "
                f"then delete this record via DELETE /operations/{operation_id}/delete.",
            )
        request.store.run(
            "UPDATE operations SET status = 'pending', error_message = NULL, completed_at = NULL, updated_at = ? "
            "WHERE id = ?",
            stamp(request.now),
            operation_id,
        )
    message = f"Operation {operation_id} queued for retry"
    return {"success": True, "message": message, "operation_id": operation_id}


def delete_operation(request: Request) -> dict[str, Any]:
    """Forget a finished operation."""
    operation_id, row = _existing(request)
    if row["status"] in _OPEN:
        wanted = "expected 'failed', 'cancelled' or 'completed'"
        raise Problem(409, f"Operation {operation_id} cannot be deleted: status is '{row['status']}', {wanted}")
    request.store.run("DELETE FROM operations WHERE id = ?", operation_id)
    return {"success": True, "message": f"Operation {operation_id} deleted", "operation_id": operation_id}


def _step(request: Request, row: Row) -> None:
    """Move one operation on by one state."""
    if row["status"] == "pending":
        work = request.pace.work + sum(text.seconds_of(item["content"]) for item in unpack(row["items"]))
        request.store.run(
            "UPDATE operations SET status = 'processing', due_at = ?, updated_at = ? WHERE id = ?",
            stamp(request.now + timedelta(seconds=work)),
            stamp(request.now),
            row["id"],
        )
        return
    request.store.run("UPDATE operations SET due_at = NULL WHERE id = ?", row["id"])
    ensure_bank(request)
    added, error = 0, ""
    if row["type"] == files.CONVERSION:
        _end(request, row, files.convert(request, row) if row["status"] != "cancelled" else "", 0)
        return
    if row["type"] == clone.TYPE:
        _end(request, row, clone.copy(request, row) if row["status"] != "cancelled" else "", 0)
        return
    if row["type"] == mental_models.WRITING:
        mental_models.write(request, row["model_id"])
        _end(request, row, "", 0)
        return
    for item in unpack(row["items"]):
        try:
            added += retain.store_item(request, item, row["id"])
        except (retain.ExtractionFailed, Problem) as failure:
            error = f"RuntimeError: {failure}"
            break
    if row["status"] == "cancelled":  # stored all the same; only the label says otherwise
        return
    if error:
        _fail(request, row, error)
    else:
        _end(request, row, "", added)
    _settle_parent(request, row["parent_id"])


def _end(request: Request, row: Row, error: str, added: int) -> None:
    """For good: a conversion that failed is not tried again."""
    now = stamp(request.now)
    request.store.run(
        "UPDATE operations SET status = ?, updated_at = ?, completed_at = ?, error_message = ?, facts_count = ? "
        "WHERE id = ? AND status != 'cancelled'",
        "failed" if error else "completed",
        now,
        None if error else now,
        error or None,
        added,
        row["id"],
    )


def _fail(request: Request, row: Row, error: str) -> None:
    """Wait for another attempt, which looks like pending; failed only after the last one."""
    last = row["retry_count"] >= request.pace.retries
    again = None if last else stamp(request.now + timedelta(seconds=request.pace.backoff))
    request.store.run(
        "UPDATE operations SET status = ?, error_message = ?, retry_count = ?, "
        "next_retry_at = coalesce(?, next_retry_at), due_at = ?, updated_at = ? WHERE id = ?",
        "failed" if last else "pending",
        error,
        row["retry_count"] if last else row["retry_count"] + 1,
        again,
        again,
        stamp(request.now),
        row["id"],
    )


def _settle_parent(request: Request, parent_id: str | None) -> None:
    """A parent ends when all of its children have; one that was cancelled stays so."""
    if parent_id is None:
        return
    children = request.store.rows("SELECT status, error_message FROM operations WHERE parent_id = ?", parent_id)
    statuses = {child["status"] for child in children}
    if statuses & set(_OPEN):
        return
    status = next(each for each in ("failed", "cancelled", "completed") if each in statuses)
    error = next((child["error_message"] for child in children if child["status"] == "failed"), None)
    now = stamp(request.now)
    request.store.run(
        "UPDATE operations SET status = ?, error_message = ?, updated_at = ?, completed_at = ? "
        "WHERE id = ? AND status != 'cancelled'",
        status,
        error,
        now,
        now if status == "completed" else None,
        parent_id,
    )


def _requeue(request: Request, which: str, operation_id: str) -> int:
    """Queue work again that failed, was cancelled or waits for its next attempt. Returns how many."""
    now = stamp(request.now)
    sql = (
        "UPDATE operations SET status = 'pending', due_at = ?, updated_at = ?, retry_count = 0, error_message = NULL, "  # noqa: S608
        f"next_retry_at = NULL, completed_at = NULL WHERE {which} AND items IS NOT NULL "
        "AND (status IN ('failed', 'cancelled') OR (status = 'pending' AND next_retry_at > ?))"
    )
    due = stamp(request.now + timedelta(seconds=request.pace.pickup))
    return request.store.run(sql, due, now, operation_id, now)


def _batches(items: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    size = 0
    for item in items:
        if batch and size + len(item["content"]) > _BATCH:
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += len(item["content"])
    yield batch


def _only_document(items: list[dict[str, Any]]) -> str | None:
    return items[0]["document_id"] if len(items) == 1 else None


def _checked_id(request: Request) -> str:
    given = request.args["operation"]
    try:
        return str(UUID(given))
    except ValueError:
        raise Problem(400, f"Invalid operation_id format: {given}") from None


def _find(request: Request, operation_id: str) -> Row | None:
    return request.store.row("SELECT * FROM operations WHERE id = ? AND bank_id = ?", operation_id, request.bank_id)


def _existing(request: Request) -> tuple[str, Row]:
    operation_id = _checked_id(request)
    row = _find(request, operation_id)
    if row is None:
        raise Problem(404, f"Operation {operation_id} not found for bank {request.bank_id}")
    return operation_id, row


def _shown(row: Row) -> dict[str, Any]:
    names = "status created_at updated_at completed_at error_message retry_count next_retry_at"
    both = {"id": row["id"], "operation_id": row["id"], "task_type": row["type"], "operation_type": row["type"]}
    return (
        both
        | {name: row[name] for name in names.split()}
        | {"progress": None, "details": None, "mental_model_id": row["model_id"]}
    )


def _result(row: Row, children: list[Row]) -> dict[str, Any]:
    result: dict[str, Any] = {"items_count": row["items_count"]}
    if row["document_id"]:
        result["document_id"] = row["document_id"]
    if row["parent_id"]:
        result["parent_operation_id"] = row["parent_id"]
    if children:
        added = sum(child["facts_count"] for child in children)
        result |= {"is_parent": True, "num_sub_batches": len(children), "unit_ids_count": added}
    return result


def _child(row: Row, number: int) -> dict[str, Any]:
    return {
        "operation_id": row["id"],
        "status": row["status"],
        "sub_batch_index": number,
        "items_count": row["items_count"],
        "error_message": row["error_message"],
    }

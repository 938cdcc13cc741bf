"""Banks of the demo server: list, create, delete, counters."""

from datetime import timedelta
from typing import Any

from banks.demo.http import Problem, Request
from banks.demo.store import Row, like, stamp

CREATE_FIELDS = frozenset(
    [
        "name",
        "mission",
        "background",
        "disposition",
        "disposition_skepticism",
        "disposition_literalism",
        "disposition_empathy",
        "reflect_mission",
        "retain_mission",
        "retain_extraction_mode",
        "retain_custom_instructions",
        "retain_chunk_size",
        "enable_observations",
        "observations_mission",
    ]
)
_DISPOSITION = {"skepticism": 3, "literalism": 3, "empathy": 3}
_TABLES = [
    "facts",
    "chunks",
    "documents",
    "operations",
    "mental_models",
    "mental_model_versions",
    "directives",
    "events",
    "webhooks",
    "config",
    "banks",
]
PERIODS = {"7d": 7, "30d": 30, "90d": 90}  # in days; shorter ones are not asked for by anybody here
FACT_TYPES = ("world", "experience", "observation")
_LONGEST_ID = 192  # bytes of UTF-8


def require_bank(request: Request) -> None:
    if request.store.row("SELECT 1 FROM banks WHERE bank_id = ?", request.bank_id) is None:
        raise Problem(404, f"Bank '{request.bank_id}' not found")


def ensure_bank(request: Request) -> None:
    """Create the bank when it is missing: a retain does that, a read never."""
    if len(request.bank_id.encode()) > _LONGEST_ID:
        raise Problem(400, f"Bank id is too long: at most {_LONGEST_ID} bytes of UTF-8 are allowed")
    now = stamp(request.now)
    request.store.run(
        "INSERT OR IGNORE INTO banks (bank_id, name, created_at, updated_at) VALUES (?, ?, ?, ?)",
        request.bank_id,
        request.bank_id,
        now,
        now,
    )


def touch_bank(request: Request) -> None:
    request.store.run("UPDATE banks SET last_write_at = ? WHERE bank_id = ?", stamp(request.now), request.bank_id)


def list_banks(request: Request) -> dict[str, Any]:
    limit, offset = request.number("limit", 100), request.number("offset", 0)
    q = like(request.text("q"))
    where = "WHERE bank_id LIKE ? ESCAPE '\\' OR name LIKE ? ESCAPE '\\'"
    total = request.store.number(f"SELECT count(*) FROM banks {where}", q, q)  # noqa: S608
    rows = request.store.rows(
        f"SELECT * FROM banks {where} ORDER BY updated_at DESC, bank_id LIMIT ? OFFSET ?",  # noqa: S608
        q,
        q,
        limit,
        offset,
    )
    return {"banks": [_row(request, row) for row in rows], "total": total, "limit": limit, "offset": offset}


def put_bank(request: Request) -> dict[str, Any]:
    body = request.json(CREATE_FIELDS)
    ensure_bank(request)
    return _changed(request, body)


def patch_bank(request: Request) -> dict[str, Any]:
    """Changes what is named. Creates nothing."""
    body = request.json(CREATE_FIELDS)
    require_bank(request)
    return _changed(request, body)


def _changed(request: Request, body: dict[str, Any]) -> dict[str, Any]:
    for name in ("name", "mission"):
        if isinstance(value := body.get(name), str):
            sql = f"UPDATE banks SET {name} = ?, updated_at = ? WHERE bank_id = ?"  # noqa: S608  # our own two words
            request.store.run(sql, value, stamp(request.now), request.bank_id)
    row = request.store.row("SELECT * FROM banks WHERE bank_id = ?", request.bank_id)
    if row is None:
        raise Problem(500, "the bank is not there")
    return {
        "bank_id": row["bank_id"],
        "name": row["name"],
        "disposition": _DISPOSITION,
        "mission": row["mission"],
        "background": row["mission"],
    }


def delete_bank(request: Request) -> dict[str, Any]:
    """Says yes for unknown banks too."""
    count = request.store.number("SELECT count(*) FROM facts WHERE bank_id = ?", request.bank_id)
    count += request.store.number("SELECT count(*) FROM documents WHERE bank_id = ?", request.bank_id)
    hooks = "SELECT id FROM webhooks WHERE bank_id = ?"
    request.store.run(f"DELETE FROM deliveries WHERE webhook_id IN ({hooks})", request.bank_id)  # noqa: S608
    for table in _TABLES:
        request.store.run(f"DELETE FROM {table} WHERE bank_id = ?", request.bank_id)  # noqa: S608
    message = f"Bank '{request.bank_id}' and all associated data deleted successfully"
    return {"success": True, "message": message, "deleted_count": count}


def stats(request: Request) -> dict[str, Any]:
    require_bank(request)
    store, bank = request.store, request.bank_id
    kinds = store.rows("SELECT type, count(*) FROM facts WHERE bank_id = ? AND state = 'valid' GROUP BY type", bank)
    by_type = {row[0]: row[1] for row in kinds}
    statuses = store.rows("SELECT status, count(*) FROM operations WHERE bank_id = ? GROUP BY status", bank)
    by_status = {row[0]: row[1] for row in statuses}
    row = store.row("SELECT last_write_at FROM banks WHERE bank_id = ?", bank)
    return {
        "bank_id": bank,
        "total_nodes": sum(by_type.values()),
        "total_links": 0,
        "total_documents": store.number("SELECT count(*) FROM documents WHERE bank_id = ?", bank),
        "nodes_by_fact_type": by_type,
        "links_by_link_type": {},
        "links_by_fact_type": {},
        "links_breakdown": {},
        "pending_operations": by_status.get("pending", 0) + by_status.get("processing", 0),
        "failed_operations": by_status.get("failed", 0),
        "operations_by_status": by_status,
        "last_consolidated_at": row["last_write_at"] if row else None,
        "last_memory_write_at": row["last_write_at"] if row else None,
        "pending_consolidation": 0,
        "failed_consolidation": 0,
        "total_observations": by_type.get("observation", 0),
    }


def timeseries(request: Request) -> dict[str, Any]:
    require_bank(request)
    period = request.text("period")
    days = PERIODS.get(period, PERIODS["7d"])
    facts = "SELECT substr(created_at, 1, 10), type, count(*) FROM facts WHERE bank_id = ? AND state = 'valid'"
    counted = request.store.rows(f"{facts} GROUP BY 1, 2", request.bank_id)
    found = {(row[0], row[1]): row[2] for row in counted}
    dates = [(request.now - timedelta(days=back)).date().isoformat() for back in range(days - 1, -1, -1)]
    buckets = [
        {"time": f"{day}T00:00:00+00:00", **{kind: found.get((day, kind), 0) for kind in FACT_TYPES}} for day in dates
    ]
    told = {"period": period if period in PERIODS else "7d", "trunc": "day", "time_field": "created_at"}
    return {"bank_id": request.bank_id, **told, "buckets": buckets}


def list_aliases(request: Request) -> dict[str, Any]:
    """The demo's banks have no other ids."""
    require_bank(request)
    return {"bank_id": request.bank_id, "aliases": []}


def _row(request: Request, row: Row) -> dict[str, Any]:
    bank = row["bank_id"]
    newest = request.store.row("SELECT max(created_at) FROM documents WHERE bank_id = ?", bank)
    return {
        "bank_id": bank,
        "name": row["name"],
        "disposition": _DISPOSITION,
        "mission": row["mission"],
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
        "fact_count": request.store.number("SELECT count(*) FROM facts WHERE bank_id = ? AND state = 'valid'", bank),
        "last_document_at": newest[0] if newest else None,
        "last_write_at": row["last_write_at"],
        "display_alias": None,
        "matched_aliases": [],
    }

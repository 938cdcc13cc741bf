"""Copying a bank into a new one, in the background, under new ids where banks share them."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

from banks.demo.banks import ensure_bank, require_bank
from banks.demo.http import Problem, Request, invalid
from banks.demo.store import Row, pack, stamp, unpack

TYPE = "clone_bank"
_DATA, _CONFIG = ("documents", "chunks", "facts", "mental_models"), ("config", "directives", "webhooks")
_NAMED_ANEW = ("facts", "directives", "webhooks")  # their ids are unique among all banks
_LONGEST_ID = 192  # bytes of UTF-8


def post_clone(request: Request) -> dict[str, Any]:
    target = request.text("target_bank_id")
    if not target:
        raise invalid("missing", ["query", "target_bank_id"], "Field required", None)
    require_bank(request)
    if target == request.bank_id:
        raise Problem(400, "A bank cannot be cloned onto itself; choose a different target_bank_id")
    if "/" in target or len(target.encode()) > _LONGEST_ID:
        raise Problem(400, f"Invalid bank id '{target}'")
    if request.store.row("SELECT 1 FROM banks WHERE bank_id = ?", target) is not None:
        raise Problem(400, f"Target bank '{target}' already exists; a clone writes into a fresh bank.")
    now, operation_id = stamp(request.now), str(uuid4())
    wanted = {"content": "", "target": target, "config": request.text("include_bank_config", "true") == "true"}
    values = {"id": operation_id, "bank_id": request.bank_id, "type": TYPE, "status": "pending", "items_count": 1}
    due = stamp(request.now + timedelta(seconds=request.pace.pickup))
    times = {"created_at": now, "updated_at": now, "due_at": due}
    request.store.insert("operations", values | times | {"items": pack([wanted])})
    return {"operation_id": operation_id}


def copy(request: Request, row: Row) -> str:
    """Why it failed; "" when it did not."""
    (wanted,) = unpack(row["items"])
    target = wanted["target"]
    if request.store.row("SELECT 1 FROM banks WHERE bank_id = ?", target) is not None:
        return f"Target bank '{target}' already exists"
    ensure_bank(replace(request, args={"bank": target}))
    for table in (*_DATA, *(_CONFIG if wanted["config"] else ())):
        _copy(request, table, target)
    return ""


def _copy(request: Request, table: str, target: str) -> None:
    rows = [dict(row) for row in request.store.rows(f"SELECT * FROM {table} WHERE bank_id = ?", request.bank_id)]  # noqa: S608
    ids = {row["id"]: str(uuid4()) for row in rows} if table in _NAMED_ANEW else {}
    for row in rows:
        row["bank_id"] = target
        if ids:
            row["id"] = ids[row["id"]]
        if table == "facts":
            row["sources"] = pack([ids.get(source, source) for source in unpack(row["sources"])])
        request.store.insert(table, row)

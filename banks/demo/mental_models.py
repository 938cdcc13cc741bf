"""Mental models of the demo server: made at once, of the facts and observations that share a word with their query."""

from typing import Any
from uuid import uuid4

from banks.demo import text
from banks.demo.banks import ensure_bank, require_bank
from banks.demo.http import Problem, Request, invalid
from banks.demo.store import Row, pack, stamp, unpack

CREATE_FIELDS = frozenset({"id", "name", "source_query", "tags", "max_tokens", "trigger"})
_READS = 20  # facts and observations


def list_models(request: Request) -> dict[str, Any]:
    limit, offset = request.number("limit", 100, least=1, most=1_000), request.number("offset", 0)
    require_bank(request)
    total = request.store.number("SELECT count(*) FROM mental_models WHERE bank_id = ?", request.bank_id)
    sql = "SELECT * FROM mental_models WHERE bank_id = ? ORDER BY created_at DESC, rowid DESC LIMIT ? OFFSET ?"
    rows = request.store.rows(sql, request.bank_id, limit, offset)
    detail = request.text("detail", "metadata")
    return {"items": [_row(row, detail) for row in rows], "total": total, "limit": limit, "offset": offset}


def create_model(request: Request) -> dict[str, Any]:
    body = request.json(CREATE_FIELDS)
    for name in ("name", "source_query"):
        if not isinstance(body.get(name), str):
            raise invalid("missing", ["body", name], "Field required", body)
    model_id = body.get("id") or str(uuid4())
    ensure_bank(request)
    if request.store.row("SELECT 1 FROM mental_models WHERE bank_id = ? AND id = ?", request.bank_id, model_id):
        raise Problem(409, f"Mental model '{model_id}' already exists in bank '{request.bank_id}'")
    read = _read(request, body["source_query"])
    model = {
        "bank_id": request.bank_id,
        "id": model_id,
        "name": body["name"],
        "source_query": body["source_query"],
        "content": "\n".join(["## Summary", "", *(f"- {row['text']}" for row in read)]),
        "based_on": pack([{name: row[name] for name in ("id", "text", "type", "context")} for row in read]),
        "created_at": stamp(request.now),
    }
    request.store.insert("mental_models", model)
    return {"mental_model_id": model_id, "operation_id": _note_operation(request)}


def _read(request: Request, query: str) -> list[Row]:
    wanted = text.words(query)
    rows = request.store.rows(
        "SELECT * FROM facts WHERE bank_id = ? AND state = 'valid' ORDER BY mentioned_at DESC, id", request.bank_id
    )
    return [row for row in rows if wanted & text.words(row["text"])][:_READS]


def _row(row: Row, detail: str) -> dict[str, Any]:
    content, full = detail in {"content", "full"}, detail == "full"
    groups: dict[str, list[Any]] = {"world": [], "experience": [], "observation": [], "mental-models": []}
    for each in unpack(row["based_on"]):
        groups[each["type"]].append(each)
    times = ("last_refreshed_at", "last_memory_seen_at", "last_full_refreshed_at", "created_at")
    return dict.fromkeys(times, row["created_at"]) | {
        "id": row["id"],
        "bank_id": row["bank_id"],
        "name": row["name"],
        "source_query": row["source_query"] if content else None,
        "content": row["content"] if content else None,
        "tags": [],
        "last_refresh_failed_at": None,
        "is_knowledge_page": False,
        "is_stale": False,
        "reflect_response": {"text": row["content"], "based_on": groups, "mental_models": []} if full else None,
    }


def _note_operation(request: Request) -> str:
    now = stamp(request.now)
    done: dict[str, Any] = {"id": str(uuid4()), "bank_id": request.bank_id, "type": "refresh_mental_model"}
    times = {"created_at": now, "updated_at": now, "completed_at": now}
    request.store.insert("operations", done | times | {"items_count": 0, "status": "completed"})
    return str(done["id"])

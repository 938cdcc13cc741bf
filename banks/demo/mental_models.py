"""Mental models of the demo server: written of the facts and observations that share a word with their query."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

from banks.demo import text
from banks.demo.banks import ensure_bank, require_bank
from banks.demo.http import Problem, Request, invalid
from banks.demo.store import Row, pack, stamp, unpack

UPDATE_FIELDS = frozenset({"name", "source_query", "tags", "max_tokens", "trigger"})
CREATE_FIELDS = UPDATE_FIELDS | {"id"}
WRITING = "refresh_mental_model"  # the operation that does it
_READS = 20  # facts and observations
_TRIGGER = {"mode": "full", "refresh_after_consolidation": False, "refresh_cron": None, "full_refresh_cron": None}


def list_models(request: Request) -> dict[str, Any]:
    limit, offset = request.number("limit", 100, least=1, most=1_000), request.number("offset", 0)
    require_bank(request)
    total = request.store.number("SELECT count(*) FROM mental_models WHERE bank_id = ?", request.bank_id)
    sql = "SELECT * FROM mental_models WHERE bank_id = ? ORDER BY created_at DESC, rowid DESC LIMIT ? OFFSET ?"
    rows = request.store.rows(sql, request.bank_id, limit, offset)
    detail = request.text("detail", "metadata")
    items = [_row(row, detail) | {"is_stale": _stale(request, row)} for row in rows]
    return {"items": items, "total": total, "limit": limit, "offset": offset}


def get_model(request: Request) -> dict[str, Any]:
    row, detail = _model(request), request.text("detail", "full")
    return _row(row, detail) | {"is_stale": _stale(request, row) if detail == "full" else None}


def create_model(request: Request) -> dict[str, Any]:
    body = _checked(request.json(CREATE_FIELDS))
    for name in ("name", "source_query"):
        if body.get(name) is None:
            raise invalid("missing", ["body", name], "Field required", body)
    model_id = body.get("id") or str(uuid4())
    ensure_bank(request)
    if request.store.row("SELECT 1 FROM mental_models WHERE bank_id = ? AND id = ?", request.bank_id, model_id):
        raise Problem(409, f"Mental model '{model_id}' already exists in bank '{request.bank_id}'")
    model = {
        "bank_id": request.bank_id,
        "id": model_id,
        "name": body["name"],
        "source_query": body["source_query"],
        "content": "",
        "based_on": pack([]),
        "created_at": stamp(request.now),
        "tags": pack(body.get("tags") or []),
        "max_tokens": body.get("max_tokens") or 2048,
        "trigger": pack(_TRIGGER | (body.get("trigger") or {})),
    }
    request.store.insert("mental_models", model)
    return {"mental_model_id": model_id, "operation_id": _submit(request, model_id)}


def patch_model(request: Request) -> dict[str, Any]:
    body = _checked(request.json(UPDATE_FIELDS))
    row = _model(request)
    if not body:  # the real server says this of an update without a field, too
        raise Problem(404, f"Mental model '{row['id']}' not found")
    if "trigger" in body:
        body["trigger"] = pack(unpack(row["trigger"]) | body["trigger"])
    if "tags" in body:
        body["tags"] = pack(body["tags"])
    for column, value in body.items():
        sql = f"UPDATE mental_models SET {column} = ? WHERE bank_id = ? AND id = ?"  # noqa: S608  # our own words
        request.store.run(sql, value, request.bank_id, row["id"])
    return _row(_model(request), "full") | {"is_knowledge_page": None}


def delete_model(request: Request) -> dict[str, Any]:
    row = _model(request)
    request.store.run("DELETE FROM mental_models WHERE bank_id = ? AND id = ?", request.bank_id, row["id"])
    sql = "DELETE FROM mental_model_versions WHERE bank_id = ? AND model_id = ?"
    request.store.run(sql, request.bank_id, row["id"])
    return {"status": "deleted"}


def refresh_model(request: Request) -> dict[str, Any]:
    given = request.args["model"]
    if _found(request) is None:
        raise Problem(404, f"Mental model {given} not found in bank {request.bank_id}")
    return {"operation_id": _submit(request, given), "status": "queued"}


def dry_run_refresh(request: Request) -> dict[str, Any]:
    row = _found(request)
    if row is None:
        raise Problem(404, f"Mental model {request.args['model']} not found")
    read = _read(request, row)
    would_be = _content(read) or row["content"]
    counts: dict[str, int] = {}
    for each in read:
        counts[each["type"]] = counts.get(each["type"], 0) + 1
    return {
        "mental_model_id": row["id"],
        "name": row["name"],
        "requested_mode": "full",
        "effective_mode": "full",
        "mode_fallback_reason": None,
        "outcome": "content_unchanged" if would_be == row["content"] else "content_written",
        "would_persist": True,
        "facts": {"retrieved": counts, "used": counts},
        "current_content": row["content"],
        "candidate_content": would_be,
        "preview_content": would_be,
        "usage": {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0},
        "warnings": [],
    }


def history(request: Request) -> list[dict[str, Any]]:
    row = _model(request)
    sql = "SELECT * FROM mental_model_versions WHERE bank_id = ? AND model_id = ? ORDER BY number DESC"
    return [
        {
            "previous_content": each["content"],
            "previous_reflect_response": {"based_on": _groups(each)} if each["content"] else None,
            "changed_at": each["changed_at"],
        }
        for each in request.store.rows(sql, request.bank_id, row["id"])
    ]


def write(request: Request, model_id: str) -> None:
    """The text anew; what it was is kept, where it changes. Where nothing was found to write from, it stays.

    Nothing when the model was deleted meanwhile.
    """
    request.args["model"] = model_id
    row = _found(request)
    if row is None:
        return
    read, now = _read(request, row), stamp(request.now)
    content = _content(read) or row["content"]
    if content != row["content"]:
        version = {name: row[name] for name in ("bank_id", "content", "based_on")}
        request.store.insert("mental_model_versions", version | {"model_id": model_id, "changed_at": now})
    based_on = pack([{name: each[name] for name in ("id", "text", "type", "context")} for each in read])
    request.store.run(
        "UPDATE mental_models SET content = ?, based_on = ?, refreshed_at = ? WHERE bank_id = ? AND id = ?",
        content,
        based_on,
        now,
        request.bank_id,
        model_id,
    )


def _read(request: Request, row: Row) -> list[Row]:
    """Of a model with tags only what carries all of them."""
    wanted, tags = text.words(row["source_query"]), set(unpack(row["tags"]))
    rows = request.store.rows(
        "SELECT * FROM facts WHERE bank_id = ? AND state = 'valid' ORDER BY mentioned_at DESC, id", request.bank_id
    )
    return [each for each in rows if wanted & text.words(each["text"]) and tags <= set(unpack(each["tags"]))][:_READS]


def _content(read: list[Row]) -> str:
    return "\n".join(["## Summary", "", *(f"- {each['text']}" for each in read)]) if read else ""


def _stale(request: Request, row: Row) -> bool:
    if row["refreshed_at"] is None:
        return True
    newer = "SELECT tags FROM facts WHERE bank_id = ? AND updated_at > ?"
    tags = set(unpack(row["tags"]))
    return any(
        tags <= set(unpack(each["tags"])) for each in request.store.rows(newer, request.bank_id, row["refreshed_at"])
    )


def _found(request: Request) -> Row | None:
    sql = "SELECT * FROM mental_models WHERE bank_id = ? AND id = ?"
    return request.store.row(sql, request.bank_id, request.args["model"])


def _model(request: Request) -> Row:
    row = _found(request)
    if row is None:
        raise Problem(404, f"Mental model '{request.args['model']}' not found")
    return row


def _checked(body: dict[str, Any]) -> dict[str, Any]:
    """The fields that were given, each of its type."""
    kinds = {"id": str, "name": str, "source_query": str, "tags": list, "max_tokens": int, "trigger": dict}
    given = {name: body[name] for name in kinds if body.get(name) is not None}
    for name, value in given.items():
        if not isinstance(value, kinds[name]):
            word = {str: "string", list: "list", int: "integer", dict: "dictionary"}[kinds[name]]
            raise invalid(f"{word}_type", ["body", name], f"Input should be a valid {word}", value)
    tokens = given.get("max_tokens", 256)
    if not 256 <= tokens <= 8192:
        edge = "greater than or equal to 256" if tokens < 256 else "less than or equal to 8192"
        kind = "greater_than_equal" if tokens < 256 else "less_than_equal"
        raise invalid(kind, ["body", "max_tokens"], f"Input should be {edge}", tokens)
    return given


def _groups(row: Row) -> dict[str, list[Any]]:
    groups: dict[str, list[Any]] = {"world": [], "experience": [], "observation": [], "mental-models": []}
    for each in unpack(row["based_on"]):
        groups[each["type"]].append(each)
    return groups


def _row(row: Row, detail: str) -> dict[str, Any]:
    content, full = detail in {"content", "full"}, detail == "full" and row["refreshed_at"] is not None
    answer = {"text": row["content"], "based_on": _groups(row), "mental_models": []}
    return {
        "id": row["id"],
        "bank_id": row["bank_id"],
        "name": row["name"],
        "source_query": row["source_query"] if content else None,
        "content": row["content"] if content else None,
        "tags": unpack(row["tags"]),
        "max_tokens": row["max_tokens"] if content else None,
        "trigger": unpack(row["trigger"]) if content else None,
        "last_refreshed_at": row["refreshed_at"] or row["created_at"],
        "last_memory_seen_at": row["refreshed_at"],
        "last_full_refreshed_at": row["refreshed_at"],
        "last_refresh_failed_at": None,
        "created_at": row["created_at"],
        "is_knowledge_page": False,
        "is_stale": None,
        "reflect_response": answer if full else None,
    }


def _submit(request: Request, model_id: str) -> str:
    """The id of the work; of one that waits already, no second one is begun."""
    sql = "SELECT id FROM operations WHERE bank_id = ? AND model_id = ? AND status = 'pending'"
    if waiting := request.store.row(sql, request.bank_id, model_id):
        return str(waiting["id"])
    now, due = stamp(request.now), stamp(request.now + timedelta(seconds=request.pace.pickup))
    work = {"id": str(uuid4()), "bank_id": request.bank_id, "type": WRITING, "model_id": model_id, "items": pack([])}
    times = {"created_at": now, "updated_at": now, "due_at": due}
    request.store.insert("operations", work | times | {"items_count": 0, "status": "pending"})
    return str(work["id"])

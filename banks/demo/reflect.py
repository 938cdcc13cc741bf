"""Reflect of the demo server: no model is asked; the answer lists what was recalled, and what it rests on is real."""

from typing import Any

from banks.demo import recall, retain
from banks.demo.banks import ensure_bank
from banks.demo.http import Request, invalid, wrong_value
from banks.demo.store import Row, unpack

FIELDS = frozenset(
    {
        *("query", "budget", "context", "max_tokens", "include", "response_schema", "tags", "tags_match", "tag_groups"),
        *("apply_all_directives", "fact_types", "exclude_mental_models", "exclude_mental_model_ids"),
        *("reflect_search_observations_max_tokens", "reflect_search_observations_include_entities"),
    }
)
_READS = 10
_EMPTY = "'query' must not be empty or whitespace-only."
_NOTHING = "No information is stored about this."


def post_reflect(request: Request) -> dict[str, Any]:
    """The real server makes a bank of a mistyped id, and so does this one."""
    body = request.json(FIELDS)
    query = body.get("query")
    if not isinstance(query, str):
        raise invalid("missing", ["body", "query"], "Field required", body)
    if not query.strip():
        raise wrong_value(["body"], _EMPTY, {"query": query})
    ensure_bank(request)
    types = [str(each) for each in body.get("fact_types") or recall.TYPES]
    found = [row for _, _, row in recall.search(request, query, types, body)][:_READS]
    lines = [f"- {row['text']}" for row in found] or [f"- {_NOTHING}"]
    include = body.get("include") if isinstance(body.get("include"), dict) else {}
    return {
        "text": "\n".join(["## Answer", "", *lines]),
        "based_on": _based_on(request, found) if _wanted(include, "facts") else None,
        "structured_output": None,
        "structured_output_error": None,
        "usage": retain.USAGE,
        "trace": _trace(query) if _wanted(include, "tool_calls") else None,
    }


def _wanted(include: Any, name: str) -> bool:
    return isinstance(include, dict) and include.get(name) is not None


def _based_on(request: Request, found: list[Row]) -> dict[str, Any]:
    """Facts that were recalled, and the directives that are on for every answer."""
    sql = "SELECT id, name, content FROM directives WHERE bank_id = ? AND is_active = 1 AND tags = '[]' ORDER BY id"
    return {
        "memories": [_memory(row) for row in found],
        "mental_models": [],
        "directives": [dict(row) for row in request.store.rows(sql, request.bank_id)],
    }


def _memory(row: Row) -> dict[str, Any]:
    same = ("id", "text", "type", "context", "occurred_start", "occurred_end", "mentioned_at", "document_id")
    chunk = None if row["chunk"] is None else f"{row['bank_id']}_{row['document_id']}_{row['chunk']}"
    more = {"chunk_id": chunk, "tags": unpack(row["tags"]), "metadata": unpack(row["metadata"]), "attachments": None}
    return {name: row[name] for name in same} | more


def _trace(query: str) -> dict[str, Any]:
    call = {"tool": "recall", "input": {"tool": "recall", "query": query}, "output": None}
    return {"tool_calls": [call | {"duration_ms": 1, "iteration": 1}], "llm_calls": []}

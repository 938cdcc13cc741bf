"""Facts of the demo server: listing, reading, curating."""

from typing import Any
from uuid import UUID

from banks.demo import consolidate, events, fact_filters
from banks.demo.banks import touch_bank
from banks.demo.http import Problem, Request, invalid, parse_time, wrong_value
from banks.demo.store import Row, marks, pack, stamp, unpack

UPDATE_FIELDS = frozenset(
    [
        "text",
        "context",
        "occurred_start",
        "occurred_end",
        "mentioned_at",
        "fact_type",
        "entities",
        "resolve_entities",
        "state",
        "reason",
    ]
)
_EDITS = ("text", "context", "occurred_start", "occurred_end", "mentioned_at")
_TIMES = ("occurred_start", "occurred_end", "mentioned_at")


def list_facts(request: Request) -> dict[str, Any]:
    limit, offset = request.number("limit", 100), request.number("offset", 0)
    where, values = fact_filters.narrowed(request)
    total = request.store.number(f"SELECT count(*) FROM facts WHERE {where}", *values)  # noqa: S608
    rows = request.store.rows(
        f"SELECT * FROM facts WHERE {where} ORDER BY mentioned_at DESC, created_at DESC, id LIMIT ? OFFSET ?",  # noqa: S608
        *values,
        limit,
        offset,
    )
    return {"items": [_list_row(row) for row in rows], "total": total, "limit": limit, "offset": offset}


def get_fact(request: Request) -> dict[str, Any]:
    row = _fact(request)
    detail = _detail(row)
    if row["type"] == "observation":
        sources = unpack(row["sources"])
        sql = f"SELECT * FROM facts WHERE id IN ({marks(sources)})"  # noqa: S608
        names = ("id", "text", "type", "context", "occurred_start", "mentioned_at")
        found = [{name: source[name] for name in names} for source in request.store.rows(sql, *sources)]
        detail |= {"history": [], "source_memory_ids": sources, "source_memories": found}
    return detail


def patch_fact(request: Request) -> dict[str, Any]:
    body = request.json(UPDATE_FIELDS) if request.raw else {}
    given = {name: value for name, value in body.items() if name in UPDATE_FIELDS and value is not None}
    for name in given.keys() - {"entities", "resolve_entities"}:
        if not isinstance(given[name], str):
            raise invalid("string_type", ["body", name], "Input should be a valid string", given[name])
    if not set(given) - {"reason", "resolve_entities"}:
        raise wrong_value(["body"], "Provide at least one field to update.", body)
    if given.get("state") not in {None, "valid", "invalidated"}:
        raise wrong_value(["body"], "state must be 'valid' or 'invalidated'.", body)
    if given.get("fact_type") not in {None, "world", "experience"}:
        raise wrong_value(["body"], "fact_type must be 'world' or 'experience'.", body)
    row = _fact(request)
    if row["type"] == "observation":
        raise Problem(
            400,
            f"Memory '{row['id']}' is a observation; only world/experience facts can be curated. "
            "Observations are derived and regenerate from their sources.",
        )
    edits = _edits(given)
    if edits and row["state"] == "invalidated":
        raise Problem(400, "Cannot edit an invalidated memory; revert it to 'valid' first.")
    _apply(request, row["id"], edits, given)
    _note(request, row, edits, given)
    consolidate.consolidate(request, {row["subject"]}, edited={row["id"]} if edits else ())
    touch_bank(request)
    return _detail(_fact(request))


def _edits(given: dict[str, Any]) -> dict[str, Any]:
    """Columns to set for the fields that change what a fact says."""
    if isinstance(text := given.get("text"), str):
        if not text.strip():
            raise Problem(400, "text must not be empty.")
        if "\0" in text:
            raise Problem(500, 'invalid byte sequence for encoding "UTF8": 0x00')
    edits = {name: given[name] for name in _EDITS if name in given}
    for name in _TIMES:
        if name in edits:
            edits[name] = stamp(
                parse_time(str(edits[name]), Problem(400, f"Invalid isoformat string: '{edits[name]}'"))
            )
    if isinstance(names := given.get("entities"), list):
        edits["entities"] = pack([str(name) for name in names])
    if "fact_type" in given:
        edits["type"] = given["fact_type"]
    return edits


def _apply(request: Request, fact_id: str, edits: dict[str, Any], given: dict[str, Any]) -> None:
    now = stamp(request.now)
    changes = dict(edits)
    if edits:
        changes |= {"edited_at": now, "updated_at": now, "consolidated_at": None}
    for column, value in changes.items():
        request.store.run(f"UPDATE facts SET {column} = ? WHERE id = ?", value, fact_id)  # noqa: S608  # our own words
    match given.get("state"):
        case "invalidated":  # repeating keeps the first time, and the reason when it gives none
            request.store.run(
                "UPDATE facts SET state = 'invalidated', invalidation_reason = coalesce(?, invalidation_reason), "
                "invalidated_at = coalesce(invalidated_at, ?) WHERE id = ?",
                given.get("reason"),
                now,
                fact_id,
            )
        case "valid":
            request.store.run(
                "UPDATE facts SET state = 'valid', invalidation_reason = NULL, invalidated_at = NULL WHERE id = ?",
                fact_id,
            )


def _note(request: Request, row: Row, edits: dict[str, Any], given: dict[str, Any]) -> None:
    """What the document's history tells of it."""
    if not row["document_id"]:
        return
    if edits:
        events.note(request, row["document_id"], "fact_edited", fact_id=row["id"])
    state = given.get("state")
    if state and state != row["state"]:
        kind = {"invalidated": "fact_invalidated", "valid": "fact_restored"}[state]
        events.note(request, row["document_id"], kind, fact_id=row["id"])


def _fact(request: Request) -> Row:
    given = request.args["fact"]
    try:
        fact_id = str(UUID(given))
    except ValueError:
        raise Problem(400, f"Invalid memory_id: '{given}' is not a valid UUID") from None
    row = request.store.row("SELECT * FROM facts WHERE id = ? AND bank_id = ?", fact_id, request.bank_id)
    if row is None:
        raise Problem(404, f"Memory unit '{given}' not found")
    return row


def _common(row: Row) -> dict[str, Any]:
    bare = (
        "id text context document_id mentioned_at occurred_start occurred_end state invalidation_reason invalidated_at"
    )
    fields = {name: row[name] for name in (*bare.split(), "edited_at", "consolidated_at")}
    chunk = None if row["chunk"] is None else f"{row['bank_id']}_{row['document_id']}_{row['chunk']}"
    return fields | {
        "date": row["occurred_start"] or row["mentioned_at"] or "",
        "chunk_id": chunk,
        "tags": unpack(row["tags"]),
        "metadata": unpack(row["metadata"]),
        "consolidation_failed_at": None,
    }


def _entities(row: Row) -> list[str]:
    """Retired facts have none on the real server, until they are restored."""
    return unpack(row["entities"]) if row["state"] == "valid" else []


def _list_row(row: Row) -> dict[str, Any]:
    sources = unpack(row["sources"])
    return _common(row) | {
        "fact_type": row["type"],
        "entities": "" if row["type"] == "observation" else ", ".join(_entities(row)),
        "proof_count": len(sources) or 1,
        "updated_at": row["updated_at"],
        "source_memory_ids": sources,
    }


def _detail(row: Row) -> dict[str, Any]:
    return _common(row) | {"type": row["type"], "entities": sorted(_entities(row)), "observation_scopes": None}

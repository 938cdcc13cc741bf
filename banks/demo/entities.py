"""Entities of the demo server: nothing but the names in its facts, so their ids are made of these."""

from typing import Any
from uuid import NAMESPACE_URL, UUID, uuid5

from banks.demo.banks import require_bank
from banks.demo.http import Problem, Request
from banks.demo.store import Row

# Names that differ in case alone are one; the first spelling stands for all. Observations mention nothing themselves.
_NAMES = (
    "SELECT min(named.value) AS name, count(*) AS mentions, min(f.mentioned_at) AS first, max(f.mentioned_at) AS last "
    "FROM facts f, json_each(f.entities) named "
    "WHERE f.bank_id = ? AND f.state = 'valid' AND f.type <> 'observation' GROUP BY lower(named.value) "
    "ORDER BY mentions DESC, name"
)


def list_entities(request: Request) -> dict[str, Any]:
    limit, offset = request.number("limit", 100), request.number("offset", 0)
    require_bank(request)
    rows = request.store.rows(_NAMES, request.bank_id)
    items = [_row(request, row) for row in rows[offset : offset + limit]]
    return {"items": items, "total": len(rows), "limit": limit, "offset": offset}


def get_entity(request: Request) -> dict[str, Any]:
    entity_id = checked_id(request.args["entity"])
    row = _find(request, entity_id)
    if row is None:  # the same words for an unknown bank, as the real server has them
        raise Problem(404, f"Entity {request.args['entity']} not found")
    return _row(request, row) | {"observations": []}


def name_of(request: Request, entity_id: str) -> str:
    """The name of an entity that a filter asks for; "" when there is none."""
    row = _find(request, checked_id(entity_id))
    return row["name"] if row else ""


def checked_id(given: str) -> str:
    try:
        return str(UUID(given))
    except ValueError:
        raise Problem(400, f"Invalid entity_id: '{given}' is not a valid UUID") from None


def _find(request: Request, entity_id: str) -> Row | None:
    rows = request.store.rows(_NAMES, request.bank_id)
    return next((row for row in rows if id_of(request, row["name"]) == entity_id), None)


def id_of(request: Request, name: str) -> str:
    return str(uuid5(NAMESPACE_URL, f"{request.bank_id}\n{name.lower()}"))


def _row(request: Request, row: Row) -> dict[str, Any]:
    return {
        "id": id_of(request, row["name"]),
        "canonical_name": row["name"],
        "mention_count": row["mentions"],
        "first_seen": row["first"],
        "last_seen": row["last"],
        "metadata": {},
    }

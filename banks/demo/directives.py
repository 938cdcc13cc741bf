"""Directives of the demo server. They are kept and given back; nothing here asks a model."""

from typing import Any
from uuid import UUID, uuid4

from banks.demo.banks import require_bank
from banks.demo.http import Problem, Request, invalid
from banks.demo.store import Row, pack, stamp, unpack

_KINDS: dict[str, type] = {"name": str, "content": str, "priority": int, "is_active": bool, "tags": list}
_WORDS = {
    str: ("string_type", "Input should be a valid string"),
    int: ("int_type", "Input should be a valid integer"),
    bool: ("bool_type", "Input should be a valid boolean"),
    list: ("list_type", "Input should be a valid list"),
}
FIELDS = frozenset(_KINDS)


def list_directives(request: Request) -> dict[str, Any]:
    limit, offset = request.number("limit", 100, least=1, most=1_000), request.number("offset", 0)
    active_only = request.flag("active_only") if "active_only" in request.query else True
    require_bank(request)
    where = "bank_id = ?" + (" AND is_active = 1" if active_only else "")
    total = request.store.number(f"SELECT count(*) FROM directives WHERE {where}", request.bank_id)  # noqa: S608
    rows = request.store.rows(
        f"SELECT * FROM directives WHERE {where} ORDER BY priority DESC, created_at DESC, id DESC LIMIT ? OFFSET ?",  # noqa: S608
        request.bank_id,
        limit,
        offset,
    )
    return {"items": [_row(row) for row in rows], "total": total, "limit": limit, "offset": offset}


def get_directive(request: Request) -> dict[str, Any]:
    return _row(_directive(request))


def create_directive(request: Request) -> dict[str, Any]:
    body = _checked(request.json(FIELDS))
    for name in ("name", "content"):
        if body.get(name) is None:
            raise invalid("missing", ["body", name], "Field required", body)
    if request.store.row("SELECT 1 FROM banks WHERE bank_id = ?", request.bank_id) is None:
        # The real server lets its database say so.
        raise Problem(500, 'insert or update on table "directives" violates foreign key constraint')
    now, made = stamp(request.now), str(uuid4())
    values = {"priority": 0, "is_active": True, "tags": []} | body
    times = {"created_at": now, "updated_at": now}
    request.store.insert("directives", {"id": made, "bank_id": request.bank_id} | times | _columns(values))
    request.args["directive"] = made
    return get_directive(request)


def patch_directive(request: Request) -> dict[str, Any]:
    body = _checked(request.json(FIELDS))
    row = _directive(request)
    for column, value in (_columns(body) | {"updated_at": stamp(request.now)}).items():
        sql = f"UPDATE directives SET {column} = ? WHERE id = ?"  # noqa: S608  # our own words
        request.store.run(sql, value, row["id"])
    return get_directive(request)


def delete_directive(request: Request) -> dict[str, Any]:
    request.store.run("DELETE FROM directives WHERE id = ?", _directive(request)["id"])
    return {"status": "deleted"}


def _checked(body: dict[str, Any]) -> dict[str, Any]:
    """The known fields that were given, each of its type."""
    given = {name: body[name] for name in _KINDS if body.get(name) is not None}
    for name, value in given.items():
        wanted = _KINDS[name]
        right = isinstance(value, wanted) and not (wanted is int and isinstance(value, bool))
        if not right or (wanted is list and not all(isinstance(each, str) for each in value)):
            kind, message = _WORDS[wanted]
            raise invalid(kind, ["body", name], message, value)
    return given


def _columns(values: dict[str, Any]) -> dict[str, Any]:
    return {name: pack(value) if name == "tags" else value for name, value in values.items()}


def _directive(request: Request) -> Row:
    given = request.args["directive"]
    try:
        UUID(given)
    except ValueError:  # the real server lets its database refuse it
        raise Problem(500, f"invalid input for query argument $2: '{given}' (invalid UUID)") from None
    row = request.store.row("SELECT * FROM directives WHERE bank_id = ? AND id = ?", request.bank_id, given)
    if row is None:
        raise Problem(404, f"Directive '{given}' not found")
    return row


def _row(row: Row) -> dict[str, Any]:
    names = ("id", "bank_id", "name", "content", "priority", "created_at", "updated_at")
    return {name: row[name] for name in names} | {"is_active": bool(row["is_active"]), "tags": unpack(row["tags"])}

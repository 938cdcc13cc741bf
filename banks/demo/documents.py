"""Documents of the demo server: listing, reading, deleting, tags."""

from typing import Any

from banks.demo import consolidate, events
from banks.demo.banks import require_bank
from banks.demo.http import Problem, Request, invalid
from banks.demo.store import Row, like, pack, stamp, unpack

UPDATE_FIELDS = frozenset({"tags", "observation_scopes"})


def list_documents(request: Request) -> dict[str, Any]:
    limit, offset = request.number("limit", 100), request.number("offset", 0)
    require_bank(request)
    where, values = "bank_id = ?", [request.bank_id]
    if q := request.text("q"):
        where += " AND (id LIKE ? ESCAPE '\\' OR text LIKE ? ESCAPE '\\')"
        values += [like(q), like(q)]
    if tags := request.query.get("tags", []):
        having = "EXISTS (SELECT 1 FROM json_each(documents.tags) WHERE value = ?)"
        both = " AND " if request.text("tags_match").startswith("all") else " OR "
        where += f" AND ({both.join([having] * len(tags))})"
        values += tags
    total = request.store.number(f"SELECT count(*) FROM documents WHERE {where}", *values)  # noqa: S608
    rows = request.store.rows(
        f"SELECT * FROM documents WHERE {where} ORDER BY updated_at DESC, id DESC LIMIT ? OFFSET ?",  # noqa: S608
        *values,
        limit,
        offset,
    )
    facts = _live_facts_of(request, [row["id"] for row in rows])
    items = [
        _row(row, facts.get(row["id"], 0)) | {"text_length": len(row["text"]), "matched_fields": _matched(row, q)}
        for row in rows
    ]
    return {"items": items, "total": total, "limit": limit, "offset": offset, "total_is_estimate": False}


def get_document(request: Request) -> dict[str, Any]:
    row = _document(request)
    return _row(row, _live_facts(request, row["id"])) | {
        "original_text": row["text"],
        "nodes_by_fact_type": _kinds(request, row["id"]),
        "observation_scopes": unpack(row["scopes"]),
        "attachments": None,
    }


def list_chunks(request: Request) -> dict[str, Any]:
    limit, offset = request.number("limit", 100, least=1, most=1_000), request.number("offset", 0)
    row = _document(request)
    of_document = "FROM chunks WHERE bank_id = ? AND document_id = ?"
    total = request.store.number(f"SELECT count(*) {of_document}", request.bank_id, row["id"])
    chunks = request.store.rows(
        f"SELECT number, text {of_document} ORDER BY number LIMIT ? OFFSET ?",
        request.bank_id,
        row["id"],
        limit,
        offset,
    )
    items = [
        {
            "chunk_id": f"{request.bank_id}_{row['id']}_{chunk['number']}",
            "document_id": row["id"],
            "bank_id": request.bank_id,
            "chunk_index": chunk["number"],
            "chunk_text": chunk["text"],
            "created_at": row["created_at"],
            "attachments": None,
        }
        for chunk in chunks
    ]
    return {"items": items, "total": total, "limit": limit, "offset": offset}


def list_history(request: Request) -> dict[str, Any]:
    """Empty for documents that never were; kept when they are deleted."""
    limit, offset = request.number("limit", 100, least=1, most=1_000), request.number("offset", 0)
    items, total = events.of_document(request, request.args["document"], limit, offset)
    page = {"total": total, "limit": limit, "offset": offset, "items": items}
    return {"document_id": request.args["document"]} | page


def delete_document(request: Request) -> dict[str, Any]:
    row = _document(request)
    of_document = (request.bank_id, row["id"])
    live = _live_facts(request, row["id"])
    subjects = consolidate.subjects_of(request.store, *of_document)
    for table, column in (("facts", "document_id"), ("chunks", "document_id"), ("documents", "id")):
        request.store.run(f"DELETE FROM {table} WHERE bank_id = ? AND {column} = ?", *of_document)  # noqa: S608
    consolidate.consolidate(request, subjects)
    message = f"Document '{row['id']}' and {live} associated memory units deleted successfully"
    return {"success": True, "message": message, "document_id": row["id"], "memory_units_deleted": live}


def patch_document(request: Request) -> dict[str, Any]:
    """Only tags and scopes can be changed; retired facts do not get the new tags."""
    body = request.json(UPDATE_FIELDS) if request.raw else {}
    if not any(body.get(name) is not None for name in UPDATE_FIELDS):
        raise Problem(422, "At least one field (tags, observation_scopes) must be provided")
    if not isinstance(body.get("tags"), list | None) or not all(isinstance(tag, str) for tag in body.get("tags") or []):
        raise invalid("list_type", ["body", "tags"], "Input should be a valid list", body["tags"])
    row = _document(request)
    where, of_document = "WHERE bank_id = ? AND", (request.bank_id, row["id"])
    if (tags := body.get("tags")) is not None:
        packed = pack(sorted(set(tags)))
        request.store.run(f"UPDATE documents SET tags = ? {where} id = ?", packed, *of_document)  # noqa: S608
        request.store.run(
            f"UPDATE facts SET tags = ? {where} document_id = ? AND state = 'valid'",  # noqa: S608
            packed,
            *of_document,
        )
    if (scopes := body.get("observation_scopes")) is not None:
        request.store.run(f"UPDATE documents SET scopes = ? {where} id = ?", pack(scopes), *of_document)  # noqa: S608
    request.store.run(f"UPDATE documents SET updated_at = ? {where} id = ?", stamp(request.now), *of_document)  # noqa: S608
    return {"success": True}


def _document(request: Request) -> Row:
    row = request.store.row(
        "SELECT * FROM documents WHERE bank_id = ? AND id = ?", request.bank_id, request.args["document"]
    )
    if row is None:  # the same words for an unknown bank, as the real server has them
        raise Problem(404, "Document not found")
    return row


def _row(row: Row, facts: int) -> dict[str, Any]:
    return {
        "id": row["id"],
        "bank_id": row["bank_id"],
        "content_hash": row["content_hash"],
        "created_at": row["created_at"],
        "updated_at": row["updated_at"],
        "memory_unit_count": facts,
        "retain_params": unpack(row["params"]),
        "document_metadata": unpack(row["metadata"]),
        "tags": unpack(row["tags"]),
    }


def _live_facts(request: Request, document_id: str) -> int:
    return request.store.number(
        "SELECT count(*) FROM facts WHERE bank_id = ? AND document_id = ? AND state = 'valid'",
        request.bank_id,
        document_id,
    )


def _live_facts_of(request: Request, document_ids: list[str]) -> dict[str, int]:
    """In one query; a document without any is left out."""
    counted = request.store.rows(
        "SELECT document_id, count(*) FROM facts WHERE bank_id = ? AND state = 'valid' "
        "AND document_id IN (SELECT value FROM json_each(?)) GROUP BY document_id",
        request.bank_id,
        pack(document_ids),
    )
    return {row[0]: row[1] for row in counted}


def _kinds(request: Request, document_id: str) -> dict[str, int]:
    counted = request.store.rows(
        "SELECT type, count(*) FROM facts WHERE bank_id = ? AND document_id = ? AND state = 'valid' GROUP BY type",
        request.bank_id,
        document_id,
    )
    derived = request.store.number(
        "SELECT count(DISTINCT o.id) FROM facts o, json_each(o.sources) s JOIN facts f ON f.id = s.value "
        "WHERE o.bank_id = ? AND o.type = 'observation' AND f.document_id = ?",
        request.bank_id,
        document_id,
    )
    return {"world": 0, "experience": 0} | {row[0]: row[1] for row in counted} | {"observation": derived}


def _matched(row: Row, q: str) -> list[str]:
    columns = {"id": "id", "original_text": "text"}
    return [name for name, column in columns.items() if q and q.lower() in row[column].lower()]

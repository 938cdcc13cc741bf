"""Storing documents, as the real server does it: chunk by chunk.

A chunk whose text is the same keeps its facts with their ids, edits and retirements; a changed chunk loses all of them
and is extracted anew under new ids.
"""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from banks.demo import consolidate, events, operations, text, webhooks
from banks.demo.banks import ensure_bank, touch_bank
from banks.demo.http import Problem, Request, invalid, parse_time, wrong_value
from banks.demo.store import Row, pack, stamp, unpack

FIELDS = frozenset({"items", "async", "operation_id", "document_tags"})
_STEP = timedelta(milliseconds=10)  # between the facts of one document, to keep their order
FAILED = (
    "Fact extraction failed: 1/1 chunks failed. First failures: chunk 0: BadRequestError: Error code: 400 - "
    "demo: forced failure"
)
USAGE = {"input_tokens": 100, "output_tokens": 20, "total_tokens": 120, "cached_tokens": 0, "thoughts_tokens": 0}


class ExtractionFailed(Exception):
    """A marker in the text asked for it."""


def post_memories(request: Request) -> dict[str, Any]:
    body = request.json(FIELDS)
    items = _checked_items(body)
    wanted = _checked_operation_id(body)
    if wanted and len({item.get("strategy") for item in items}) > 1:
        raise Problem(400, "operation_id requires all retain items to resolve to a single strategy")
    for item in items:
        item["tags"] = [*(item.get("tags") or []), *(body.get("document_tags") or [])]
    ensure_bank(request)
    base = {"success": True, "bank_id": request.bank_id, "items_count": len(items), "operation_ids": None}
    if body.get("async"):
        return base | {"async": True, "operation_id": _submit(request, items, wanted), "usage": None}
    _name_items(items)
    for item in items:
        try:
            store_item(request, item)
        except ExtractionFailed as error:
            request.store.commit()  # what came before the failing item stays stored, as on the real server
            request.store.begin()
            raise Problem(500, str(error)) from error
    return base | {"async": False, "operation_id": None, "usage": USAGE}


def reprocess(request: Request) -> dict[str, Any]:
    """Queue a retain of the document as it is stored, whose facts are all extracted anew. A body is not read."""
    row = request.store.row(
        "SELECT * FROM documents WHERE bank_id = ? AND id = ?", request.bank_id, request.args["document"]
    )
    if row is None:
        raise Problem(404, "Document not found")
    kept = unpack(row["params"]) or {}
    item = {name: kept[name] for name in kept.keys() - {"event_date"}} | {"tags": unpack(row["tags"])}
    if "event_date" in kept:
        item["timestamp"] = kept["event_date"] or "unset"
    item |= {"content": row["text"], "document_id": row["id"], "force_reextract": True}
    return {"success": True, "operation_id": operations.submit(request, [item], str(uuid4())), "items_count": 1}


def store_item(request: Request, item: dict[str, Any], operation_id: str = "") -> int:
    """Store one document. Returns how many facts are new. ExtractionFailed, Problem: the old one stays.

    `operation_id`: of the work in the background, which webhooks tell; else it gets a name that no list has.
    """
    document_id, content = item["document_id"], item["content"].replace("\0", "")
    _said_at(request, item)  # of a file nothing was checked before; nothing is changed yet
    old = request.store.row("SELECT * FROM documents WHERE bank_id = ? AND id = ?", request.bank_id, document_id)
    before = _chunks(request, document_id)
    if old and item.get("update_mode") == "append":
        after, content = [*before, *text.chunks(content)], f"{old['text']}\n{content}"
    else:
        after = text.chunks(content)
    again = item.get("force_reextract")
    moved, fresh = ({}, list(range(len(after)))) if again else _compare(before, after)
    for number in fresh:
        _maybe_fail(request, after[number])
    touched = consolidate.subjects_of(request.store, request.bank_id, document_id)
    live = "SELECT count(*) FROM facts WHERE bank_id = ? AND document_id = ? AND state = 'valid'"
    had = request.store.number(live, request.bank_id, document_id)
    _put_document(request, old, item, content)
    _put_chunks(request, document_id, after, moved)
    _retag(request, item)
    added = _put_facts(request, item, {number: after[number] for number in fresh})
    if again:
        events.note(request, document_id, "reprocess", added=added, removed=had)
    touched |= consolidate.subjects_of(request.store, request.bank_id, document_id)
    consolidate.consolidate(request, touched)
    touch_bank(request)
    webhooks.retained(request, item, operation_id or uuid4().hex)
    return added


def _checked_items(body: dict[str, Any]) -> list[dict[str, Any]]:
    items = body.get("items")
    if items is None:
        raise invalid("missing", ["body", "items"], "Field required", body)
    if not isinstance(items, list):
        raise invalid("list_type", ["body", "items"], "Input should be a valid list", items)
    return [_checked_item(item, ["body", "items", number]) for number, item in enumerate(items)]


def _checked_item(item: Any, place: list[str | int]) -> dict[str, Any]:
    if not isinstance(item, dict):
        message = "Input should be a valid dictionary or object to extract fields from"
        raise invalid("model_attributes_type", place, message, item)
    content, mode = item.get("content"), item.get("update_mode")
    if not isinstance(content, str):
        raise invalid("missing", [*place, "content"], "Field required", item)
    if not content.strip():
        raise wrong_value([*place, "content"], "content cannot be empty", content)
    if mode not in (None, "replace", "append"):
        allowed = "'replace' or 'append'"
        raise invalid(
            "literal_error", [*place, "update_mode"], f"Input should be {allowed}", mode, {"expected": allowed}
        )
    _check_types(item, place)
    if mode == "append" and not item.get("document_id"):
        raise Problem(400, "update_mode='append' requires a document_id")
    when = item.get("timestamp")
    if when and when != "unset":
        message = (
            f"Invalid timestamp/event_date format: '{when}'. Expected ISO format like '2024-01-15T10:30:00' or "
            "'2024-01-15T10:30:00Z', or the special value 'unset' to store without a timestamp."
        )
        parse_time(str(when), wrong_value([*place, "timestamp"], message, when))
    return dict(item)


def _check_types(item: dict[str, Any], place: list[str | int]) -> None:
    for name in ("document_id", "context", "strategy", "timestamp"):
        if not isinstance(item.get(name), str | None):
            raise invalid("string_type", [*place, name], "Input should be a valid string", item[name])
    for name, kind in (("metadata", dict), ("tags", list), ("entities", list)):
        if not isinstance(item.get(name), kind | None):
            raise invalid(
                f"{kind.__name__}_type", [*place, name], f"Input should be a valid {kind.__name__}", item[name]
            )
    texts = [*(item.get("metadata") or {}).items(), *enumerate(item.get("tags") or [])]
    for key, value in texts:
        if not isinstance(value, str):
            raise invalid("string_type", [*place, key], "Input should be a valid string", value)
    for entity in item.get("entities") or []:
        if not isinstance(entity, dict) or not isinstance(entity.get("text"), str):
            raise invalid("missing", [*place, "entities", "text"], "Field required", entity)
    scopes = item.get("observation_scopes")
    if not isinstance(scopes, str | list | None):
        raise invalid("string_type", [*place, "observation_scopes"], "Input should be a valid string", scopes)


def _checked_operation_id(body: dict[str, Any]) -> str | None:
    given = body.get("operation_id")
    if given is None:
        return None
    try:
        return str(UUID(str(given)))
    except ValueError:
        raise wrong_value(["body", "operation_id"], "operation_id must be a valid UUID", given) from None


def _submit(request: Request, items: list[dict[str, Any]], operation_id: str | None) -> str | None:
    """The id of the operation: a new one, or the one that was started under this id before, whatever it holds."""
    if operation_id:
        known = request.store.row("SELECT bank_id FROM operations WHERE id = ?", operation_id)
        if known and known["bank_id"] == request.bank_id:
            return operation_id
        if known:
            raise Problem(409, f"operation_id {operation_id} is already in use")
    names = [item["document_id"] for item in items if item.get("document_id")]
    repeated = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
    if repeated:
        raise Problem(
            400,
            f"Batch contains duplicate document_ids: {repeated}. Each content item in an async batch must have "
            "a unique document_id to avoid races between the parallel workers that process them.",
        )
    if not items:
        return None
    _name_items(items)
    return operations.submit(request, items, operation_id or str(uuid4()))


def _name_items(items: list[dict[str, Any]]) -> None:
    """Items without an id share one new document."""
    shared = str(uuid4())
    for item in items:
        item["document_id"] = (item.get("document_id") or "").replace("\0", "") or shared


def _compare(before: list[str], after: list[str]) -> tuple[dict[int, int], list[int]]:
    """(new place of each old chunk that stays, places whose text is new)"""
    left: dict[str, list[int]] = {}
    for number, chunk in enumerate(before):
        left.setdefault(chunk, []).append(number)
    moved, fresh = {}, []
    for number, chunk in enumerate(after):
        if left.get(chunk):
            moved[left[chunk].pop(0)] = number
        else:
            fresh.append(number)
    return moved, fresh


def _maybe_fail(request: Request, chunk: str) -> None:
    if text.always_fails(chunk):
        raise ExtractionFailed(FAILED)
    if some := text.fails_at_first(chunk):
        key, times = some
        if request.store.number("SELECT count FROM failures WHERE key = ?", key) < times:
            request.store.run(
                "INSERT INTO failures VALUES (?, 1) ON CONFLICT (key) DO UPDATE SET count = count + 1", key
            )
            raise ExtractionFailed(FAILED)


def _chunks(request: Request, document_id: str) -> list[str]:
    rows = request.store.rows(
        "SELECT text FROM chunks WHERE bank_id = ? AND document_id = ? ORDER BY number", request.bank_id, document_id
    )
    return [row["text"] for row in rows]


def _put_document(request: Request, old: Row | None, item: dict[str, Any], content: str) -> None:
    now = stamp(request.now)
    request.store.insert(
        "documents",
        {
            "bank_id": request.bank_id,
            "id": item["document_id"],
            "text": content,
            "content_hash": text.content_hash(content),
            "created_at": old["created_at"] if old else now,
            "updated_at": now,
            "tags": pack(sorted(set(item.get("tags") or []))),
            "metadata": pack(item.get("metadata") or None),
            "params": pack(_params(item) or None),
            "scopes": pack(item.get("observation_scopes")),
        },
        replace=True,
    )


def _params(item: dict[str, Any]) -> dict[str, Any]:
    """What the real server keeps of the way in which a document was stored."""
    params = {name: item[name] for name in ("context", "metadata", "strategy", "observation_scopes") if item.get(name)}
    if when := item.get("timestamp"):
        params["event_date"] = None if when == "unset" else datetime.fromisoformat(when).isoformat()
    if entities := item.get("entities"):
        params["entities"] = [{"type": "CONCEPT"} | entity for entity in entities]
        params["resolve_entities"] = item.get("resolve_entities", True)
    return params


def _put_chunks(request: Request, document_id: str, after: list[str], moved: dict[int, int]) -> None:
    """Renumber what stays, drop the rest together with its facts.

    As the real server does: retired facts of dropped chunks stay where other chunks stay, and go where none does.
    """
    of_document = (request.bank_id, document_id)
    where = "WHERE bank_id = ? AND document_id = ?"
    stays = pack(list(moved))
    request.store.run(
        f"DELETE FROM facts {where} AND chunk NOT IN (SELECT value FROM json_each(?)) AND (state = 'valid' OR ?)",  # noqa: S608
        *of_document,
        stays,
        not moved,
    )
    for old, new in moved.items():  # by way of negative numbers, so that no two chunks meet
        request.store.run(f"UPDATE facts SET chunk = ? {where} AND chunk = ?", -1 - new, *of_document, old)  # noqa: S608
    request.store.run(f"UPDATE facts SET chunk = -1 - chunk {where} AND chunk < 0", *of_document)  # noqa: S608
    request.store.run(f"DELETE FROM chunks {where}", *of_document)  # noqa: S608
    for number, chunk in enumerate(after):
        row = {"bank_id": request.bank_id, "document_id": document_id, "number": number, "text": chunk}
        request.store.insert("chunks", row)


def _retag(request: Request, item: dict[str, Any]) -> None:
    """Facts that stay take over the new tags and metadata, but not the context."""
    if item.get("update_mode") == "append":
        return
    request.store.run(
        "UPDATE facts SET tags = ?, metadata = ?, updated_at = ? "
        "WHERE bank_id = ? AND document_id = ? AND state = 'valid'",
        pack(sorted(set(item.get("tags") or []))),
        pack(item.get("metadata") or {}),
        stamp(request.now),
        request.bank_id,
        item["document_id"],
    )


def _put_facts(request: Request, item: dict[str, Any], fresh: dict[int, str]) -> int:
    said = _said_at(request, item)
    found = [(number, fact) for number, chunk in fresh.items() for fact in text.facts(chunk)]
    given = [entity["text"] for entity in item.get("entities") or []]
    for place, (number, fact) in enumerate(found):
        names = list(dict.fromkeys([*fact.entities, *given]))
        request.store.insert(
            "facts",
            {
                "id": str(uuid4()),
                "bank_id": request.bank_id,
                "document_id": item["document_id"],
                "chunk": number,
                "subject": names[0] if names else "",
                "text": fact.text,
                "type": fact.type,
                "context": item.get("context") or "",
                "mentioned_at": stamp(said + place * _STEP) if said else None,
                "occurred_start": f"{fact.date}T00:00:00.000000+00:00" if fact.date else None,
                "occurred_end": f"{fact.date}T23:59:59.000000+00:00" if fact.date else None,
                "entities": pack(names),
                "tags": pack(sorted(set(item.get("tags") or []))),
                "metadata": pack(item.get("metadata") or {}),
                "created_at": stamp(request.now),
                "updated_at": stamp(request.now),
            },
        )
    return len(found)


def _said_at(request: Request, item: dict[str, Any]) -> datetime | None:
    given = item.get("timestamp")
    if given == "unset":
        return None
    return parse_time(str(given), Problem(422, "bad timestamp")) if given else request.now

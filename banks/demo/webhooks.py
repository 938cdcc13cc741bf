"""Webhooks of the demo server: kept, and called for what has happened. It calls nobody but this machine."""

import hashlib
import hmac
import json
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from banks.demo.banks import ensure_bank, require_bank
from banks.demo.http import Problem, Request, invalid
from banks.demo.store import Row, pack, stamp, unpack

FIELDS = frozenset({"url", "secret", "event_types", "enabled", "http_config"})
_HERE = re.compile(r"localhost|127(\.\d{1,3}){3}|::1")
_PAUSES = (5, 60, 300)  # seconds until it is tried again
_DEFAULT = ["consolidation.completed"]


@dataclass(frozen=True, slots=True)
class Call:
    """One POST that is to be made."""

    delivery: str
    url: str
    headers: dict[str, str]
    body: bytes


def list_webhooks(request: Request) -> dict[str, Any]:
    limit, offset = request.number("limit", 100), request.number("offset", 0)
    require_bank(request)
    total = request.store.number("SELECT count(*) FROM webhooks WHERE bank_id = ?", request.bank_id)
    rows = request.store.rows(
        "SELECT * FROM webhooks WHERE bank_id = ? ORDER BY rowid LIMIT ? OFFSET ?", request.bank_id, limit, offset
    )
    return {"items": [_shown(row) for row in rows], "total": total, "limit": limit, "offset": offset}


def create_webhook(request: Request) -> dict[str, Any]:
    """Takes any name of an event, and creates a missing bank."""
    body = request.json(FIELDS)
    url, events, secret = body.get("url"), body.get("event_types", _DEFAULT), body.get("secret")
    if not isinstance(url, str):
        raise invalid("missing", ["body", "url"], "Field required", body)
    if not isinstance(events, list) or not all(isinstance(each, str) for each in events):
        raise invalid("list_type", ["body", "event_types"], "Input should be a valid list", events)
    _check_url(url)
    ensure_bank(request)
    now, webhook_id = stamp(request.now), str(uuid4())
    values = {"id": webhook_id, "bank_id": request.bank_id, "url": url, "secret": str(secret or "")}
    enabled = body.get("enabled") is not False
    request.store.insert(
        "webhooks", values | {"events": pack(events), "enabled": enabled, "created_at": now, "updated_at": now}
    )
    request.status = 201
    row = request.store.row("SELECT * FROM webhooks WHERE id = ?", webhook_id)
    assert row is not None
    return _shown(row)


def delete_webhook(request: Request) -> dict[str, Any]:
    mine = (request.args["webhook"], request.bank_id)
    if not request.store.run("DELETE FROM webhooks WHERE id = ? AND bank_id = ?", *mine):
        raise Problem(404, "Webhook not found")
    request.store.run("DELETE FROM deliveries WHERE webhook_id = ?", request.args["webhook"])
    return {"success": True, "message": None, "deleted_count": None}


def list_deliveries(request: Request) -> dict[str, Any]:
    mine = (request.args["webhook"], request.bank_id)
    hook = request.store.row("SELECT url FROM webhooks WHERE id = ? AND bank_id = ?", *mine)
    if hook is None:
        raise Problem(404, "Webhook not found")
    limit = request.number("limit", 50)
    rows = request.store.rows(
        "SELECT * FROM deliveries WHERE webhook_id = ? ORDER BY rowid DESC LIMIT ?", mine[0], limit
    )
    names = "id event_id webhook_id event_type status attempts last_error last_response_status created_at updated_at"
    shown = [{name: row[name] for name in names.split()} | {"url": hook["url"]} for row in rows]
    return {"items": shown, "next_cursor": None}


def retained(request: Request, item: dict[str, Any], operation_id: str) -> None:
    """One event for each document."""
    count = request.store.number(
        "SELECT count(*) FROM facts WHERE bank_id = ? AND document_id = ? AND state = 'valid'",
        request.bank_id,
        item["document_id"],
    )
    data: dict[str, Any] = {"document_id": item["document_id"], "memory_unit_count": count}
    if item.get("tags"):
        data["tags"] = sorted(set(item["tags"]))
    _notify(request, "retain.completed", operation_id, data)


def consolidated(request: Request, operation_id: str) -> None:
    _notify(request, "consolidation.completed", operation_id, {})


def due(request: Request) -> list[Call]:
    """What is to be called now, signed as of now."""
    rows = request.store.rows(
        "SELECT d.*, w.url, w.secret FROM deliveries d JOIN webhooks w ON w.id = d.webhook_id "
        "WHERE d.status = 'pending' AND d.due_at <= ? AND w.enabled ORDER BY d.due_at, d.rowid LIMIT 100",
        stamp(request.now),
    )
    return [_call(row, int(request.now.timestamp())) for row in rows]


def settle(request: Request, delivery: str, status: int) -> None:
    """How a call ended; `status` 0: nobody answered."""
    row = request.store.row("SELECT attempts FROM deliveries WHERE id = ?", delivery)
    if row is None:
        return
    good, attempts = 200 <= status < 300, row["attempts"] + 1
    over = good or attempts > len(_PAUSES)
    again = None if over else stamp(request.now + timedelta(seconds=_PAUSES[attempts - 1]))
    request.store.run(
        "UPDATE deliveries SET status = ?, attempts = ?, due_at = ?, last_response_status = ?, last_error = ?, "
        "updated_at = ? WHERE id = ?",
        "completed" if good else "failed" if over else "pending",
        attempts,
        again,
        status or None,
        None if good else f"HTTP {status}" if status else "nobody answered",
        stamp(request.now),
        delivery,
    )


def _notify(request: Request, event: str, operation_id: str, data: dict[str, Any]) -> None:
    hooks = request.store.rows("SELECT * FROM webhooks WHERE bank_id = ? AND enabled", request.bank_id)
    now, event_id = stamp(request.now), str(uuid4())
    body: dict[str, Any] = {"event_id": event_id, "event": event, "bank_id": request.bank_id}
    body["operation_id"] = operation_id
    body |= {"status": "completed", "timestamp": now.replace("+00:00", "Z"), "data": data}
    for hook in hooks:
        if event in unpack(hook["events"]):
            values = {"id": str(uuid4()), "webhook_id": hook["id"], "event_id": event_id, "event_type": event}
            times = {"due_at": now, "created_at": now, "updated_at": now}
            request.store.insert("deliveries", values | times | {"status": "pending", "body": pack(body)})


def _call(row: Row, at: int) -> Call:
    body = row["body"].encode("utf-8", "replace")
    headers = {
        "Content-Type": "application/json",
        "X-Hindsight-Event": row["event_type"],
        "X-Hindsight-Event-Id": row["event_id"],
        "X-Hindsight-Delivery-Id": row["id"],
    }
    if secret := row["secret"].encode():
        old = f"sha256={hmac.new(secret, body, hashlib.sha256).hexdigest()}"
        new = hmac.new(secret, f"{at}.".encode() + body, hashlib.sha256).hexdigest()
        headers |= {"X-Hindsight-Signature": old, "X-Hub-Signature-256": old}
        headers["X-Hindsight-Signature-V2"] = f"t={at},v1={new}"
    return Call(row["id"], row["url"], headers, body)


def _check_url(url: str) -> None:
    try:
        parts = urlsplit(url)
        host, scheme, _ = parts.hostname or "", parts.scheme, parts.port
    except ValueError:
        raise Problem(400, "Webhook URL is not valid") from None
    if scheme not in {"http", "https"}:
        raise Problem(400, f"Webhook URL scheme must be http or https, got '{scheme or 'empty'}'")
    if scheme != "http" or not _HERE.fullmatch(host):
        raise Problem(
            400, f"Webhook URL host '{host}' is not an allowed destination: the demo server calls http on this machine"
        )


def _shown(row: Row) -> dict[str, Any]:
    config: dict[str, Any] = {"method": "POST", "timeout_seconds": 30, "headers": {}, "params": {}}
    names = "id bank_id url created_at updated_at"
    return {name: row[name] for name in names.split()} | {
        "secret": None,
        "event_types": json.loads(row["events"]),
        "enabled": bool(row["enabled"]),
        "http_config": config,
    }

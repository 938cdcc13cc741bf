"""The retain queue from within: who may write into which bank, what was sent, and one POST after the other."""

import json
import time
import uuid
from typing import Any

from django.test import Client

from banks.models import Bank, Role, Server, Write
from banks.retain.wire import wire_items
from banks.services import tokens
from memadmin.accounts.models import User
from reviews.models import ReviewEntry

_client = Client(raise_request_exception=True)


def prepare(url: str, banks: list[str]) -> str:
    """Registers these banks of the server at this address; returns a token for them."""
    server, _ = Server.objects.get_or_create(base_url=url, defaults={"name": "bench"})
    for bank_id in banks:
        Bank.objects.get_or_register(server=server, bank_id=bank_id)
    agent, _ = User.objects.get_or_create(username="agent", defaults={"is_superuser": True})
    return tokens.issue(owner=agent, name="agent", role=Role.REVIEWER, banks=None, days=1).text


def batches(bank: str) -> list[list[dict[str, Any]]]:
    """The items of each request that was sent to this bank, in order."""
    sent = Write.objects.filter(bank__bank_id=bank, kind="retain").order_by("pk")
    return [[item.as_json() for item in wire_items(_rows(write))] for write in sent]


def _rows(write: Write) -> list[Any]:
    return list(write.items.select_related("content").order_by("pk"))


def unread() -> int:
    """How many memories are still to be read for review."""
    return ReviewEntry.objects.filter(load_after__isnull=False).count()


def post(token: str, bank: str, items: int) -> float:
    """Milliseconds until the answer, which is sent once the rows are stored."""
    body = {"bank": bank, "items": [{"content": f"Ann keeps ledger {uuid.uuid4()}."} for _ in range(items)]}
    return _timed("/api/v1/retain", token, json.dumps(body), 202)


def floor(token: str) -> float:
    return _timed("/floor/retain/", token, json.dumps({"bank": "bench"}), 204)


def _timed(path: str, token: str, body: str, expected: int) -> float:
    start = time.perf_counter()
    answer = _client.post(path, body, content_type="application/json", headers={"Authorization": f"Bearer {token}"})
    taken = (time.perf_counter() - start) * 1000
    assert answer.status_code == expected, (path, answer.status_code, answer.content[:300])
    return taken

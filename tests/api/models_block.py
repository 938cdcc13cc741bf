"""What the tests of the block of mental models share."""

import json
from collections.abc import Callable
from typing import Any

import httpx

from banks import connections
from banks.models import Bank, Server
from tests.api.asking import Program

PATH = "/blocks/mental-models"


class Telling(httpx.BaseTransport):
    """A server whose bank has these models, as a list with their texts tells of them."""

    def __init__(self, *models: dict[str, Any]) -> None:
        self.models, self.calls = list(models), 0
        self.before: Callable[[], None] | None = None  # called once, while somebody waits for an answer

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        assert request.url.path.endswith("/mental-models")
        assert request.url.params["detail"] == "content"
        self.calls += 1
        before, self.before = self.before, None
        if before is not None:
            before()
        return httpx.Response(200, json={"items": self.models, "total": len(self.models)})


def tells(bank: Bank) -> Telling:
    """A server for the bank, in the place of the line, which is taken away in the end."""
    telling = connections.TRANSPORTS[bank.server.base_url] = Telling(
        {"id": "b", "name": "Conventions", "content": "Tabs.", "tags": ["project:shop"]},
        {"id": "a", "name": "Ann", "content": "Keeps the ledger.", "tags": []},
        {"id": "c", "name": "Decisions", "content": "Generating content...", "tags": []},
    )
    return telling


def get(program: Program, bank: Bank, **query: Any) -> dict[str, Any]:
    answer = program.get(PATH, bank=bank.bank_id, **query)
    assert answer.status_code == 200, answer.content
    told: dict[str, Any] = json.loads(answer.content)
    return told


def refuse(bank: Bank) -> None:
    Server.objects.filter(pk=bank.server_id).update(health=Server.Health.REFUSED)

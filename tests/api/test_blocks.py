"""The block of a bank's mental models by a program: within its limit, the same bytes, and never empty for no reason."""

import json
from datetime import timedelta
from typing import Any

import httpx
import pytest
import time_machine
from django.utils import timezone

from banks import connections
from banks.blocks.lengths import units
from banks.blocks.models import MINIMUM
from banks.mental import acts
from banks.mental.looking import seen_of
from banks.models import Bank, Server
from tests.api.asking import Program
from tests.banks.conftest import LyingTransport
from tests.banks.mental import make_model, work
from tests.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/blocks/mental-models"


class Telling(httpx.BaseTransport):
    """A server whose bank has these models, as a list with their texts tells of them."""

    def __init__(self, *models: dict[str, Any]) -> None:
        self.models, self.calls = list(models), 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        assert request.url.path.endswith("/mental-models")
        assert request.url.params["detail"] == "content"
        self.calls += 1
        return httpx.Response(200, json={"items": self.models, "total": len(self.models)})


@pytest.fixture
def telling(bank: Bank, line: LyingTransport) -> Telling:
    """Under the name of the line, which is taken away in the end."""
    told = connections.TRANSPORTS[bank.server.base_url] = Telling(
        {"id": "b", "name": "Conventions", "content": "Tabs.", "tags": ["project:shop"]},
        {"id": "a", "name": "Ann", "content": "Keeps the ledger.", "tags": []},
        {"id": "c", "name": "Decisions", "content": "Generating content...", "tags": []},
    )
    assert isinstance(told, Telling)
    return told


def get(program: Program, bank: Bank, **query: Any) -> dict[str, Any]:
    answer = program.get(PATH, bank=bank.bank_id, **query)
    assert answer.status_code == 200, answer.content
    told: dict[str, Any] = json.loads(answer.content)
    return told


def refuse(bank: Bank) -> None:
    Server.objects.filter(pk=bank.server_id).update(health=Server.Health.REFUSED)


def test_models_with_a_text_stand_by_name_and_placeholders_are_none(
    bank: Bank, telling: Telling, program: Program
) -> None:
    told = get(program, bank)
    assert "# Ann\nKeeps the ledger.\n\n# Conventions\nTabs." in told["block"]
    assert "Generating" not in told["block"]
    assert [(row["id"], row["state"]) for row in told["models"]] == [("a", "whole"), ("b", "whole")]
    assert (told["unwritten"], told["hidden"], told["stale"], told["max_chars"]) == (1, 0, False, 16_000)


def test_with_tags_only_what_they_see_is_there(bank: Bank, telling: Telling, program: Program) -> None:
    told = get(program, bank, tags=["project:desk", "team:x"])
    assert ([row["id"] for row in told["models"]], told["hidden"]) == (["a"], 1)
    assert [row["id"] for row in get(program, bank, tags=["x", "project:shop"])["models"]] == ["a", "b"]


def test_the_limit_is_strict_and_says_what_was_cut(bank: Bank, telling: Telling, program: Program) -> None:
    telling.models = [{"id": str(at), "name": f"M{at}", "content": "y" * 5_000, "tags": []} for at in range(4)]
    told = get(program, bank, max_chars=9_000)
    assert told["chars"] == units(told["block"]) == 9_000
    assert {row["state"] for row in told["models"]} == {"cut"}
    assert all(row["given"] < row["chars"] == 5_000 for row in told["models"])


def test_below_the_least_it_is_empty_with_a_reason(bank: Bank, telling: Telling, program: Program) -> None:
    told = get(program, bank, max_chars=MINIMUM - 1)
    assert (told["block"], told["reason"]) == ("", "limit-too-small")
    assert f"{MINIMUM:,}" in told["why"]
    telling.models = []
    with time_machine.travel(timezone.now() + timedelta(minutes=1), tick=False):
        assert get(program, bank)["reason"] == "no-models"


def test_the_same_content_has_the_same_tag_and_who_has_it_gets_no_body(
    bank: Bank, telling: Telling, program: Program
) -> None:
    first, second = program.get(PATH, bank=bank.bank_id), program.get(PATH, bank=bank.bank_id)
    assert (first.content, first["ETag"]) == (second.content, second["ETag"])
    assert first["Cache-Control"] == "private, no-cache"
    for had in (first["ETag"], f'"other", W/{first["ETag"]}', "*"):
        answer = program.get(PATH, bank=bank.bank_id, headers={"If-None-Match": had})
        assert (answer.status_code, answer.content, answer["ETag"]) == (304, b"", first["ETag"])
    telling.models[1]["content"] = "Sold the ledger."
    with time_machine.travel(timezone.now() + timedelta(minutes=1), tick=False):
        changed = program.get(PATH, bank=bank.bank_id, headers={"If-None-Match": first["ETag"]})
    assert (changed.status_code, changed["ETag"] == first["ETag"]) == (200, False)


def test_who_wants_text_gets_the_block_alone(bank: Bank, telling: Telling, program: Program) -> None:
    told, text = get(program, bank), {"Accept": "text/plain"}
    answer = program.get(PATH, bank=bank.bank_id, headers=text)
    assert answer["Content-Type"] == "text/plain; charset=utf-8"
    assert "Accept" in answer["Vary"]
    assert answer.content.decode() == told["block"]
    assert "Block-Reason" not in answer.headers
    again = program.get(PATH, bank=bank.bank_id, headers={**text, "If-None-Match": answer["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    small = program.get(PATH, bank=bank.bank_id, max_chars=1, headers=text)
    assert (small.status_code, small.content, small["Block-Reason"]) == (200, b"", "limit-too-small")
    refuse(bank)
    with time_machine.travel(timezone.now() + timedelta(minutes=1), tick=False):
        old = program.get(PATH, bank=bank.bank_id, headers={**text, "If-None-Match": answer["ETag"]})
    assert (old.status_code, old["Block-Stale"]) == (304, "1")


@pytest.mark.parametrize("accept", ["*/*", "application/json", "text/html", "text/plain;q=0.5, application/json"])
def test_everybody_else_gets_json(bank: Bank, telling: Telling, program: Program, accept: str) -> None:
    answer = program.get(PATH, bank=bank.bank_id, headers={"Accept": accept})
    assert answer["Content-Type"] == "application/json"


def test_many_sessions_at_once_ask_the_bank_once(bank: Bank, telling: Telling, program: Program) -> None:
    for limit in (16_000, 8_000, 4_000):
        get(program, bank, max_chars=limit)
    assert telling.calls == 1
    with time_machine.travel(timezone.now() + timedelta(minutes=1), tick=False):
        get(program, bank)
    assert telling.calls == 2


def test_a_bank_that_cannot_be_read_gives_what_it_said_and_says_how_old_that_is(
    bank: Bank, telling: Telling, program: Program
) -> None:
    block = get(program, bank)["block"]
    refuse(bank)
    with time_machine.travel(timezone.now() + timedelta(minutes=10), tick=False):
        answer = program.get(PATH, bank=bank.bank_id)
    told = json.loads(answer.content)
    assert (told["block"], told["stale"], told["unread"]) == (block, True, "The server refuses our key.")
    assert 590 <= int(answer["Age"]) <= 610


def test_where_nothing_is_known_there_is_no_empty_block(bank: Bank, telling: Telling, program: Program) -> None:
    refuse(bank)
    answer = program.get(PATH, bank=bank.bank_id)
    assert answer.status_code == 503
    assert "not known" in json.loads(answer.content)["detail"]
    assert int(answer["Retry-After"]) > 0


def test_a_bank_that_is_gone_is_not_given_from_before(bank: Bank, telling: Telling, program: Program) -> None:
    get(program, bank)

    class Gone(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            return httpx.Response(404, json={"detail": f"Bank '{bank.bank_id}' not found"})

    connections.TRANSPORTS[bank.server.base_url] = Gone()
    with time_machine.travel(timezone.now() + timedelta(minutes=1), tick=False):
        assert program.get(PATH, bank=bank.bank_id).status_code == 404


def test_a_pinned_text_is_what_agents_get(bank: Bank, line: LyingTransport, people: People, program: Program) -> None:
    found = make_model(bank, name="What we know")
    assert found.content is not None
    acts.pin(user=people.owner, bank=bank, model_id="m1", seen=seen_of(found))
    work(bank)
    connections.TRANSPORTS[bank.server.base_url] = Telling(
        {"id": "m1", "name": "What we know", "content": "Written anew.", "tags": []}
    )
    block = get(program, bank)["block"]
    assert found.content.strip() in block
    assert "Written anew." not in block


@pytest.mark.parametrize("query", [{"max_chars": "-1"}, {"max_chars": "many"}, {"max_chars": "200001"}, {"bank": ""}])
def test_what_cannot_be_asked_for_is_refused(
    bank: Bank, telling: Telling, program: Program, query: dict[str, str]
) -> None:
    assert program.get(PATH, **{"bank": bank.bank_id, **query}).status_code == 422
    assert program.get(PATH).status_code == 422
    assert telling.calls == 0


def test_a_bank_that_the_token_does_not_see_does_not_exist(bank: Bank, telling: Telling, program: Program) -> None:
    assert program.get(PATH, bank="nowhere").status_code == 404
    assert telling.calls == 0

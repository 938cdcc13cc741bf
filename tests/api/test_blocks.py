"""The block of a bank's mental models by a program: within its limit, and never empty for no reason."""

import json
from datetime import timedelta

import httpx
import pytest
import time_machine
from django.utils import timezone

from banks import connections
from banks.blocks.lengths import units
from banks.blocks.models import MINIMUM
from banks.mental import acts
from banks.mental.looking import seen_of
from banks.models import Bank
from tests.api.asking import Program
from tests.api.models_block import PATH, Telling, get, refuse, tells
from tests.banks.conftest import LyingTransport
from tests.banks.mental import make_model, work
from tests.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def telling(bank: Bank, line: LyingTransport) -> Telling:
    return tells(bank)


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

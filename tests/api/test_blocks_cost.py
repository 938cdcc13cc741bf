"""What the block of mental models costs: the same bytes for the same texts, bare text, and one question for many."""

import json
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from banks.models import Bank
from tests.api.asking import Program
from tests.api.models_block import PATH, Telling, get, refuse, tells
from tests.banks.conftest import LyingTransport

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def telling(bank: Bank, line: LyingTransport) -> Telling:
    return tells(bank)


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


def test_while_one_session_asks_anew_the_others_get_what_was_said_before(
    bank: Bank, telling: Telling, program: Program
) -> None:
    first, others = get(program, bank)["block"], []
    later = timezone.now() + timedelta(minutes=1)

    def answer_slowly() -> None:
        telling.models[1]["content"] = "Sold the ledger."
        others.append(program.get(PATH, bank=bank.bank_id))

    with time_machine.travel(later, tick=False):
        telling.before = answer_slowly
        assert "Sold the ledger." in get(program, bank)["block"]
    assert telling.calls == 2
    assert [json.loads(each.content)["block"] for each in others] == [first]
    assert 55 <= int(others[0]["Age"]) <= 65

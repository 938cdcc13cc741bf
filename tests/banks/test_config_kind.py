"""A change of a bank's configuration through the door: once, over what was seen, and read back."""

import json
from typing import Any

import httpx
import pytest
import time_machine

from banks import connections, writes
from banks.config import change
from banks.config.seen import Seen, read
from banks.models import Bank, Role, Write
from banks.services.refusal import Refusal
from banks.writes import worker
from banks.writes.kind import config_slot
from tests import factories
from tests.banks.config_form import on_server, set_past_us
from tests.banks.conftest import LyingTransport, later
from tests.banks.retaining import work_off
from tests.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)
State = Write.State


def ask(bank: Bank, people: People, **updates: Any) -> Write:
    seen = read(bank).seen
    assert seen is not None
    write = change.change(actor=people.owner, bank=bank, seen=seen, updates=updates)
    assert write is not None
    return write


def patches(line: LyingTransport) -> int:
    return line.sent("PATCH")


def test_what_was_asked_is_sent_once_and_read_back(bank: Bank, people: People, line: LyingTransport) -> None:
    set_past_us(bank, retain_mission="Old.", recall_budget_max=900)
    line.calls.clear()
    write = ask(bank, people, retain_mission="New.", retain_chunk_size=2000, recall_budget_max=None)
    assert (write.slot, write.state) == (config_slot(bank), State.QUEUED)
    work_off(bank)
    write.refresh_from_db()
    assert (write.state, patches(line)) == (State.DONE, 1)
    assert on_server(bank).overrides == {"retain_mission": "New.", "retain_chunk_size": 2000}
    assert write.outcome["set"] == ["retain_chunk_size", "retain_mission"]
    assert write.outcome["inherited"] == ["recall_budget_max"]
    assert write.request is not None
    assert write.before is not None
    assert json.loads(write.before.text) == {
        "recall_budget_max": 900,
        "retain_chunk_size": None,
        "retain_mission": "Old.",
    }


def test_what_is_so_already_is_no_row_and_no_call(bank: Bank, people: People, line: LyingTransport) -> None:
    set_past_us(bank, retain_mission="Old.")
    seen = read(bank).seen
    assert seen is not None
    same = {"retain_mission": "Old.", "retain_chunk_size": None}
    assert change.change(actor=people.owner, bank=bank, seen=seen, updates=same) is None
    write = ask(bank, people, retain_mission="New.")
    set_past_us(bank, retain_mission="New.")
    line.calls.clear()
    work_off(bank)
    write.refresh_from_db()
    assert (write.state, write.outcome, patches(line)) == (State.DONE, {"already": ["retain_mission"]}, 0)


def test_what_somebody_else_changed_meanwhile_is_not_written_over(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    write = ask(bank, people, retain_mission="Ours.", retain_chunk_size=2000)
    set_past_us(bank, retain_mission="Theirs.", reflect_mission="Another.")
    line.calls.clear()
    work_off(bank)
    write.refresh_from_db()
    assert (write.state, patches(line)) == (State.CHANGED, 0)
    assert "changed retain_mission since" in write.error_text
    assert on_server(bank).overrides == {"retain_mission": "Theirs.", "reflect_mission": "Another."}


@pytest.mark.parametrize(
    ("updates", "named"),
    [
        ({"retain_chunk_size": "many", "retain_mission": "x"}, ["retain_chunk_size"]),
        ({"llm_api_key": "sesame", "retain_mission": "x"}, ["llm_api_key"]),
        ({"of_another_version": 1, "audit_log_enabled": False}, ["of_another_version"]),
    ],
)
def test_refused_settings_are_said_by_name_and_nothing_is_tried_again(
    updates: dict[str, Any], named: list[str], bank: Bank, people: People, line: LyingTransport
) -> None:
    write = ask(bank, people, **updates)
    work_off(bank)
    write.refresh_from_db()
    assert (write.state, patches(line)) == (State.ATTENTION, 1)
    assert write.outcome["refused"] == named
    assert f"The server refused {named[0]}, and changed nothing." in write.error_text
    assert on_server(bank).overrides == {}


@pytest.mark.parametrize("cut", ["cut_before", "cut_after"])
def test_an_answer_that_is_lost_is_read_back(cut: str, bank: Bank, people: People, line: LyingTransport) -> None:
    write = ask(bank, people, retain_mission="Once.")
    getattr(line, cut).append("PATCH")
    work_off(bank)
    write.refresh_from_db()
    assert (write.state, patches(line)) == (State.DONE, 1)
    assert on_server(bank).overrides == {"retain_mission": "Once."}


def test_a_yes_that_kept_nothing_needs_a_person(bank: Bank, people: People, line: LyingTransport) -> None:
    write = ask(bank, people, retain_mission="x")

    def deaf(request: httpx.Request) -> httpx.Response:
        if request.method == "PATCH":
            return httpx.Response(200, json={"bank_id": "b", "config": {}, "overrides": {"retain_mission": "x"}})
        return line.handle_request(request)

    connections.TRANSPORTS[bank.server.base_url] = httpx.MockTransport(deaf)
    work_off(bank)
    write.refresh_from_db()
    assert (write.state, write.outcome["not_kept"]) == (State.ATTENTION, ["retain_mission"])


def test_settings_that_went_with_the_change_are_told(bank: Bank, people: People, line: LyingTransport) -> None:
    set_past_us(bank, reflect_mission="Mine.")
    write = ask(bank, people, retain_mission="x")
    with time_machine.travel(write.not_before + later(1), tick=False):
        assert worker.run(write.pk) == "accepted"
    set_past_us(bank, reflect_mission=None)
    work_off(bank)
    write.refresh_from_db()
    assert (write.state, write.outcome["vanished"]) == (State.DONE, ["reflect_mission"])


def test_a_setting_makes_no_bank(bank: Bank, people: People, line: LyingTransport) -> None:
    write = ask(bank, people, retain_mission="x")
    with connections.client_for(bank.server) as client:
        client.delete_bank(bank.bank_id)
    line.calls.clear()
    work_off(bank)
    write.refresh_from_db()
    assert (write.state, patches(line)) == (State.ATTENTION, 0)
    assert "would have created an empty bank" in write.error_text
    Bank.objects.filter(pk=bank.pk).update(gone_since=write.created)
    bank.refresh_from_db()
    seen = Seen({}, {})
    with pytest.raises(Refusal):
        change.change(actor=people.owner, bank=bank, seen=seen, updates={"retain_mission": "y"})


def test_a_reviewer_neither_retries_nor_discards_it(bank: Bank, people: People, as_user: Any) -> None:
    write = Write.objects.create(kind="config", bank=bank, via="web", state="attention", slot=config_slot(bank))
    second = factories.make_user()
    factories.grant(second, bank, Role.REVIEWER)
    for what in ("retry", "discard"):
        assert as_user(second).post(f"/log/{write.pk}/{what}/").status_code == 403
    write.refresh_from_db()
    assert write.state == State.ATTENTION
    assert writes.discard(write=write, actor=people.owner)

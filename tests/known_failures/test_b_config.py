"""What a bank is told to look for: set where nobody has, read back, and never written over."""

import json
from typing import Any

import httpx
import pytest

from banks import connections
from banks.models import Bank, Write
from banks.retain import missions
from banks.writes import worker
from tests.banks.admin_pages import SignIn, url
from tests.banks.config_form import on_server, save, shown
from tests.banks.conftest import LyingTransport
from tests.banks.retaining import put, states, work_off
from tests.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)
OURS, THEIRS = "Keep decisions.", "Keep what Ann says."


class Config(httpx.BaseTransport):
    """The line, with a note of every change of the configuration. `deaf`: it says yes and keeps nothing."""

    def __init__(self, line: LyingTransport, *, deaf: bool = False, broken: int = 0) -> None:
        self.line, self.deaf, self.broken = line, deaf, broken
        self.changes: list[dict[str, Any]] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if not request.url.path.endswith("/config"):
            return self.line.handle_request(request)
        if self.broken:
            self.broken -= 1
            return httpx.Response(500, json={"detail": "broken"})
        if request.method == "PATCH":
            self.changes.append(json.loads(request.read())["updates"])
            if self.deaf:
                return httpx.Response(200, json={"bank_id": "b", "config": {}, "overrides": {}})
        return self.line.handle_request(request)


@pytest.fixture(autouse=True)
def fresh_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(missions, "_looked", set())


@pytest.fixture
def told(bank: Bank) -> Bank:
    bank.retain_mission, bank.reflect_mission = OURS, "Answer as a reviewer."
    bank.save()
    return bank


def listen(bank: Bank, line: LyingTransport, **how: Any) -> Config:
    config = Config(line, **how)
    connections.TRANSPORTS[bank.server.base_url] = config
    return config


def missions_of(bank: Bank) -> dict[str, Any]:
    with connections.client_for(bank.server) as client:
        values = client.bank_config(bank.bank_id).values
    return {name: values[name] for name in missions.FIELDS}


def test_row_036_a_configuration_that_was_not_kept_needs_a_person(
    told: Bank, people: People, line: LyingTransport
) -> None:
    config = listen(told, line, deaf=True)
    put(people.reviewer, told, "Ann came.")
    work_off(told)
    write = Write.objects.get(kind="mission")
    assert (write.state, len(config.changes)) == (Write.State.ATTENTION, 1)
    assert "did not keep it: reflect_mission, retain_mission" in write.error_text
    assert states(told) == ["done"]  # no memory waits for that


def test_row_036_what_was_kept_is_done(told: Bank, people: People, line: LyingTransport) -> None:
    listen(told, line)
    put(people.reviewer, told, "Ann came.")
    work_off(told)
    write = Write.objects.get(kind="mission")
    assert (write.state, write.via) == (Write.State.DONE, Write.Via.HOUSEKEEPING)
    assert missions_of(told) == {"retain_mission": OURS, "reflect_mission": "Answer as a reviewer."}


def test_row_036_a_form_whose_change_was_not_kept_is_an_error_to_the_person(
    bank: Bank, people: People, line: LyingTransport, as_user: SignIn
) -> None:
    config = listen(bank, line, deaf=True)
    client = as_user(people.owner)
    save(client, bank, enable_observations="false", retain_mission="Keep names.")
    work_off(bank)
    write = Write.objects.get(kind="config")
    assert config.changes == [{"enable_observations": False, "retain_mission": "Keep names."}]
    assert (write.state, write.outcome["not_kept"]) == (
        Write.State.ATTENTION,
        ["enable_observations", "retain_mission"],
    )
    assert "did not keep enable_observations, retain_mission" in client.get(f"/log/{write.pk}/").content.decode()


def test_row_037_an_unchanged_form_sends_nothing(
    bank: Bank, people: People, line: LyingTransport, as_user: SignIn
) -> None:
    """Opened and saved, and saved again: whatever the values are, no row, and no call but reads."""
    hand_written = {
        "retain_mission": "\nKeep what Ann says.\r\n  And\rwhy. \n",
        "observations_mission": "",
        "retain_strategies": {"b": {"retain_chunk_size": 1}, "a": {}},
        "recall_budget_adaptive_mid": 0.10,
        "disposition_empathy": 5,
        "enable_observations": False,
    }
    with connections.client_for(bank.server) as past_us:
        past_us.patch_config(bank.bank_id, hand_written)
    before, client = on_server(bank), as_user(people.owner)
    config = listen(bank, line)
    line.calls.clear()
    for _ in range(2):
        answer = client.post(url("bank-config", bank.pk), shown(client, bank))
        assert "nothing was sent" in client.get(answer["Location"]).content.decode()
    assert not Write.objects.exists()
    assert config.changes == []
    assert {method for method, _ in line.calls} == {"GET"}
    assert on_server(bank) == before


def test_row_037_only_what_was_changed_is_sent(
    bank: Bank, people: People, line: LyingTransport, as_user: SignIn
) -> None:
    with connections.client_for(bank.server) as past_us:
        past_us.patch_config(bank.bank_id, {"retain_mission": THEIRS, "recall_budget_max": 900})
    config = listen(bank, line)
    save(as_user(people.owner), bank, untick="recall_budget_max", retain_chunk_size="2000")
    work_off(bank)
    assert config.changes == [{"recall_budget_max": None, "retain_chunk_size": 2000}]
    assert on_server(bank).overrides == {"retain_mission": THEIRS, "retain_chunk_size": 2000}


def test_row_037_a_mission_that_somebody_wrote_stays(told: Bank, people: People, line: LyingTransport) -> None:
    config = listen(told, line)
    with connections.client_for(told.server) as client:
        client.patch_config(told.bank_id, {"retain_mission": THEIRS})
    config.changes.clear()
    put(people.reviewer, told, "Ann came.")
    work_off(told)
    assert config.changes == [{"reflect_mission": "Answer as a reviewer."}]
    assert missions_of(told)["retain_mission"] == THEIRS


def test_row_037_a_mission_that_is_written_in_between_stays(told: Bank, people: People, line: LyingTransport) -> None:
    config = listen(told, line)
    with connections.client_for(told.server) as client:
        missions.ensure(client, told)
        for name in missions.FIELDS:
            client.patch_config(told.bank_id, {name: THEIRS})
    config.changes.clear()
    write = Write.objects.get(kind="mission")
    worker.run(write.pk)
    write.refresh_from_db()
    assert (write.outcome["kept"], config.changes) == (["reflect_mission", "retain_mission"], [])


def test_row_037_without_a_policy_nothing_is_asked_or_sent(bank: Bank, people: People, line: LyingTransport) -> None:
    put(people.reviewer, bank, "Ann came.")
    work_off(bank)
    assert not [path for _, path in line.calls if path.endswith("/config")]
    assert not Write.objects.filter(kind="mission").exists()


def test_row_037_it_is_looked_at_once_and_again_after_a_failure(
    told: Bank, people: People, line: LyingTransport
) -> None:
    config = listen(told, line, broken=1)
    for text in ("one", "two", "three"):
        put(people.reviewer, told, text)
        work_off(told)
    assert len(config.changes) == 1
    assert Write.objects.filter(kind="mission").count() == 1
    assert states(told) == ["done"] * 3

"""How a bank is set, for programs of its admins: as the server says now, and unknown where it does not answer."""

import pytest

from banks.models import Bank, Role, Write
from tests.api.asking import Program, issue
from tests.banks.config_form import on_server, set_past_us
from tests.banks.conftest import LyingTransport
from tests.conftest import People

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(bank: Bank, people: People, line: LyingTransport) -> Program:
    return Program(issue(people.owner, role=Role.ADMIN))


def test_every_setting_by_name_with_what_is_the_banks_own(bank: Bank, admin: Program) -> None:
    set_past_us(bank, retain_chunk_size=2000, retain_strategies={"b": {"retain_chunk_size": 1}, "a": {}})
    said = admin.get("/banks/config", bank=bank.bank_id).json()
    found = {each["name"]: each for each in said["settings"]}
    assert (said["bank"], said["server"], said["unread"]) == (bank.bank_id, bank.server.name, "")
    assert list(found) == sorted(on_server(bank).values)
    assert found["retain_chunk_size"] == {"name": "retain_chunk_size", "value": 2000, "own": True}
    assert list(found["retain_strategies"]["value"]) == ["a", "b"]
    assert {name for name, each in found.items() if each["own"]} == {"retain_chunk_size", "retain_strategies"}


def test_missions_with_what_the_policy_wants(bank: Bank, admin: Program) -> None:
    Bank.objects.update(retain_mission="Keep decisions.")
    set_past_us(bank, retain_mission="Keep everything.")
    said = admin.get("/banks/config", bank=bank.bank_id).json()["missions"]
    assert [each["name"] for each in said] == ["observations_mission", "reflect_mission", "retain_mission"]
    assert said[2] == {
        "name": "retain_mission",
        "text": "Keep everything.",
        "policy": "Keep decisions.",
        "written": None,
        "drifted": True,
    }
    assert [each["drifted"] for each in said] == [False, False, True]


def test_what_could_not_be_read_is_not_nothing(bank: Bank, admin: Program, line: LyingTransport) -> None:
    line.cut_before.append("GET")
    said = admin.get("/banks/config", bank=bank.bank_id).json()
    assert (said["settings"], said["missions"]) == (None, None)
    assert said["unread"]


def test_it_is_for_admins_only_and_nobody_else_has_the_server_asked(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    for who, role, status in ((people.reviewer, Role.ADMIN, 403), (people.owner, Role.REVIEWER, 403)):
        assert Program(issue(who, role=role)).get("/banks/config", bank=bank.bank_id).status_code == status
    assert line.calls == []
    assert not Write.objects.exists()

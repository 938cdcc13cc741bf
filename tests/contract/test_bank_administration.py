"""How banks are set, named, exported and deleted, with each server; and the product's own acts on them."""

import itertools
import time
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone

from banks import connections, writes
from banks.config import change
from banks.config.fields import asked_by, settings_of
from banks.config.kind import named_in
from banks.config.seen import Seen, read
from banks.hindsight import Invalid, NotFound
from banks.models import Bank as BankRow
from banks.models import Server, Write
from banks.whole import acts
from memadmin.accounts.models import User
from tests import factories
from tests.contract.conftest import Bank, Target, until
from tests.hindsight.runner import KEY

_numbers = itertools.count(1)
State = Write.State


def test_null_takes_a_setting_back_and_leaves_the_others(bank: Bank) -> None:
    bank.client.patch_config(bank.id, {"retain_mission": "Keep names.", "retain_chunk_size": 2000})
    after = bank.client.patch_config(bank.id, {"retain_mission": None})
    assert after.overrides == {"retain_chunk_size": 2000} == bank.client.bank_config(bank.id).overrides
    assert after.values["retain_mission"] is None


@pytest.mark.parametrize(
    ("updates", "named"),
    [
        ({"retain_chunk_batch_size": "many"}, ["retain_chunk_batch_size"]),
        ({"enable_observations": 1}, ["enable_observations"]),
        ({"retain_mission": {"a": 1}}, ["retain_mission"]),
        ({"llm_api_key": "x"}, ["llm_api_key"]),
        ({"nobody_knows": 1, "audit_log_enabled": False}, ["nobody_knows"]),
    ],
)
def test_what_is_refused_is_named_and_nothing_of_the_request_is_kept(
    bank: Bank, updates: dict[str, Any], named: list[str]
) -> None:
    with pytest.raises(Invalid) as caught:
        bank.client.patch_config(bank.id, {"reflect_mission": "Answer.", **updates})
    assert named_in(caught.value.detail, {"reflect_mission": "Answer.", **updates}) == named
    assert bank.client.bank_config(bank.id).overrides == {}


def test_both_servers_report_the_same_settings(bank: Bank) -> None:
    """Which ones the demo server has is written down there; a page shows whatever a server has."""
    values = bank.client.bank_config(bank.id).values
    assert {"retain_mission", "reflect_mission", "observations_mission", "retain_extraction_mode"} <= values.keys()
    assert len(values) > 50
    form = {f"value.{each.name}": each.text for each in settings_of(values, {})}
    assert asked_by(values, {}, form).updates == {}


def test_a_setting_of_an_unknown_bank_is_not_read(client) -> None:
    name = f"never-{uuid.uuid4().hex}"
    for call in (client.bank_config, client.export_bank):
        with pytest.raises(NotFound) as caught:
            call(name)
        assert caught.value.what == "bank"
    with pytest.raises(NotFound) as caught:
        client.rename_bank(name, "Ghost")
    assert caught.value.what == "bank"
    assert client.find_bank(name) is None


def test_a_bank_is_renamed_and_keeps_its_settings(bank: Bank) -> None:
    bank.client.patch_config(bank.id, {"retain_mission": "Keep names."})
    bank.client.rename_bank(bank.id, "Payments “2”")
    found = bank.client.find_bank(bank.id)
    assert found is not None
    assert found.name == "Payments “2”"
    assert bank.client.bank_config(bank.id).overrides == {"retain_mission": "Keep names."}


def test_an_export_has_the_settings_and_no_memories(bank: Bank) -> None:
    bank.store("a", "Alice works at Acme.")
    bank.client.patch_config(bank.id, {"retain_mission": "Keep names."})
    told = bank.client.export_bank(bank.id)
    assert {"version", "bank", "mental_models", "directives"} <= told.keys()
    assert told["bank"]["retain_mission"] == "Keep names."
    assert "Alice" not in str(told)


@pytest.fixture
def server(db: None, target: Target) -> Iterator[Server]:
    server = factories.make_server(base_url=target.url, name=f"administration of {target.name} {next(_numbers)}")
    server.api_key = KEY
    server.save()
    if target.transport is not None:
        connections.TRANSPORTS[target.url] = target.transport
    yield server
    connections.TRANSPORTS.pop(target.url, None)


@pytest.fixture
def user(db: None) -> User:
    return factories.make_user(is_superuser=True)


def work(write: Write) -> Write:
    def step() -> str:
        Write.objects.filter(pk=write.pk, state__in=Write.OPEN).update(not_before=timezone.now())
        writes.run(write.pk)
        write.refresh_from_db()
        if write.is_open:
            time.sleep(0.05)  # another program works meanwhile
        return write.state

    until(step, lambda state: state not in Write.OPEN)
    return write


@pytest.mark.django_db(transaction=True)
def test_a_bank_is_made_set_renamed_and_deleted_through_the_door(server: Server, user: User, client) -> None:
    name = f"contract-{uuid.uuid4().hex[:8]}"
    made = work(acts.create(actor=user, server=server, bank_id=name, name="Ours"))
    assert made.state == State.DONE, made.error_text
    row = BankRow.objects.select_related("server").get(bank_id=name)
    seen = read(row).seen
    assert seen is not None
    asked = {"retain_mission": "Keep names.", "retain_chunk_size": 2000, "enable_observations": False}
    write = change.change(actor=user, bank=row, seen=seen, updates=asked)
    assert write is not None
    assert (work(write).state, write.error_text) == (State.DONE, "")
    assert client.bank_config(name).overrides == asked
    again = change.change(actor=user, bank=row, seen=seen, updates={"retain_mission": "Keep all."})
    assert again is not None
    assert work(again).state == State.CHANGED  # what it was decided on was before the other
    renamed = acts.rename(actor=user, bank=row, name="Payments")
    assert renamed is not None
    assert (work(renamed).state, renamed.error_text) == (State.DONE, "")
    deleted = work(acts.delete(actor=user, bank=row, typed=name, documents=0))
    assert (deleted.state, deleted.error_text) == (State.DONE, "")
    row.refresh_from_db()
    assert row.gone_since is not None
    assert client.find_bank(name) is None


@pytest.mark.django_db(transaction=True)
def test_what_the_server_refuses_is_said_by_name_through_the_door(server: Server, user: User, bank: Bank) -> None:
    row = factories.make_bank(bank.id, server=server)
    updates = {"disposition_empathy": 9, "retain_chunk_batch_size": "many"}
    write = change.change(actor=user, bank=row, seen=Seen({}, {}), updates=updates)
    assert write is not None
    assert work(write).state == State.ATTENTION
    assert write.outcome["refused"] == ["retain_chunk_batch_size"]
    assert bank.client.bank_config(bank.id).overrides == {}

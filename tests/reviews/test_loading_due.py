"""The sweep that loads what is due: everything once, nobody in anybody's way."""

import logging
from datetime import timedelta

import pytest
from django.utils import timezone

from banks.models import Bank, RetainItem
from banks.retain import flush
from reviews import tasks
from reviews.models import ReviewEntry
from reviews.services import load, load_due
from tests import factories
from tests.banks.retaining import put
from tests.conftest import People

pytestmark = pytest.mark.django_db


@pytest.fixture
def wanted(bank: Bank) -> list[int]:
    now = timezone.now()
    return [factories.make_entry(bank, load_after=now - timedelta(seconds=n)).pk for n in range(5)]


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What was loaded, by a loader that does nothing else."""
    seen: list[int] = []

    def note(entry_id: int) -> str:
        seen.append(entry_id)
        ReviewEntry.objects.filter(pk=entry_id).update(load_after=None)
        return "loaded"

    monkeypatch.setattr(load, "load", note)
    return seen


def test_everything_that_is_due_is_loaded_by_one_sweep(
    bank: Bank, wanted: list[int], loaded: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(load_due, "BATCH", 2)
    later = factories.make_entry(bank, load_after=timezone.now() + timedelta(minutes=1))
    taken = factories.make_entry(
        bank, load_after=timezone.now(), load_claimed_until=timezone.now() + timedelta(minutes=1)
    )
    assert tasks.sweep_loads() == 5
    assert sorted(loaded) == sorted(wanted)
    assert {later.pk, taken.pk}.isdisjoint(loaded)
    assert tasks.sweep_loads() == 0


def test_others_get_the_worker_when_the_time_is_over(wanted: list[int], loaded: list[int]) -> None:
    assert load_due.run(seconds=-1) == 0
    assert loaded == []
    assert load_due.run() == 5


def test_a_fault_with_one_does_not_keep_the_others_waiting(
    wanted: list[int], loaded: list[int], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    note = load.load

    def torn(entry_id: int) -> str:
        if entry_id == wanted[2]:
            ReviewEntry.objects.filter(pk=entry_id).update(load_claimed_until=timezone.now() + timedelta(minutes=1))
            raise RuntimeError("a fault of ours")
        return note(entry_id)

    monkeypatch.setattr(load, "load", torn)
    with caplog.at_level(logging.ERROR):
        assert load_due.run() == 5
    assert sorted(loaded) == sorted(set(wanted) - {wanted[2]})
    assert f"entry {wanted[2]} could not be loaded" in caplog.text


def test_what_came_is_read_when_no_more_is_on_its_way_to_the_server(
    bank: Bank, people: People, loaded: list[int]
) -> None:
    now = timezone.now()
    came = factories.make_entry(bank, load_after=now, loaded_at=None)
    beside = factories.make_entry(factories.make_bank(server=bank.server), load_after=now, loaded_at=None)
    edited = factories.make_entry(bank, load_after=now)
    elsewhere = factories.make_entry(factories.make_bank(), load_after=now, loaded_at=None)
    put(people.reviewer, bank, *(f"Ann keeps ledger {number}." for number in range(flush.ENOUGH)))
    assert load_due.run() == 2  # nobody waits for the first look but for the others somebody may
    assert sorted(loaded) == [edited.pk, elsewhere.pk]
    RetainItem.objects.update(state=RetainItem.State.DONE)
    assert load_due.run() == 2
    assert sorted(loaded[2:]) == [came.pk, beside.pk]


def test_a_server_that_is_fed_for_ever_is_read_all_the_same(bank: Bank, people: People, loaded: list[int]) -> None:
    came = factories.make_entry(bank, load_after=timezone.now() - timedelta(seconds=31), loaded_at=None)
    put(people.reviewer, bank, *(f"Ann keeps ledger {number}." for number in range(flush.ENOUGH)))
    assert load_due.run() == 1
    assert loaded == [came.pk]

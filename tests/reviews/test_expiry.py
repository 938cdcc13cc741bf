from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from banks.models import Bank, Write
from reviews.models import Decision, ReviewEntry
from reviews.services import expiry
from tests import factories

NOW = datetime(2026, 8, 20, 12, tzinfo=UTC)
DAYS = timedelta(days=1)

pytestmark = pytest.mark.django_db


def aged(bank: Bank, days: float | None, **values: object) -> ReviewEntry:
    entry = factories.make_entry(bank, first_imported_at=NOW - 10 * DAYS, **values)
    expiry.set_expiry(entry, age_from=None if days is None else NOW - days * DAYS)
    entry.save()
    return entry


def test_older_than_the_window_goes_exactly_the_window_stays(bank: Bank) -> None:
    aged(bank, 7)
    aged(bank, 6.9)
    aged(bank, -30)
    old = aged(bank, 7.1)
    assert expiry.run(now=NOW).entry_ids == [old.pk]
    old.refresh_from_db()
    assert (old.state, old.decided_via, old.decided_by) == ("approved", "expiry", "")
    decision, write = Decision.objects.get(), Write.objects.get()
    assert (decision.decided_via, decision.user, decision.write) == (Decision.Via.EXPIRY, None, write)
    assert (write.via, write.actor, write.state) == (Write.Via.EXPIRY, None, Write.State.DONE)


def test_a_second_sweep_finds_nothing(bank: Bank) -> None:
    aged(bank, 8)
    assert expiry.run(now=NOW).count == 1
    assert expiry.run(now=NOW).count == 0
    assert Write.objects.count() == 1


def test_a_dry_run_changes_nothing(bank: Bank) -> None:
    aged(bank, 8)
    assert expiry.run(now=NOW, dry_run=True).count == 1
    assert not Write.objects.exists()


def test_undatable_unloaded_and_danger_marked_wait_for_a_person(bank: Bank) -> None:
    aged(bank, None)
    aged(bank, 30, load_state=ReviewEntry.Load.LOADING)
    aged(bank, 30, danger=True)
    assert expiry.run(now=NOW).count == 0
    bank.expire_marked = True
    bank.save()
    marked = aged(bank, 30, danger=True)
    assert expiry.run(now=NOW).entry_ids == [marked.pk]


@pytest.mark.parametrize(("days", "left"), [(0, False), (0.5, True), (3, False)])
def test_a_bank_has_its_own_window(bank: Bank, days: float, left: bool) -> None:
    bank.auto_approve_days = days
    bank.save()
    aged(bank, 0.6)
    assert bool(expiry.run(now=NOW).count) is left


def test_an_old_file_is_not_approved_before_a_day_has_passed(bank: Bank) -> None:
    entry = factories.make_entry(bank, first_imported_at=NOW)
    expiry.set_expiry(entry, age_from=NOW - 400 * DAYS)
    entry.save()
    assert entry.expires_at == NOW + DAYS
    assert expiry.run(now=NOW + timedelta(hours=23)).count == 0
    assert expiry.run(now=NOW + timedelta(hours=25)).count == 1


def test_a_changed_policy_changes_what_waits(bank: Bank) -> None:
    entry = aged(bank, 2)
    bank.auto_approve_days = 1
    bank.save()
    with time_machine.travel(NOW, tick=False):
        assert expiry.recompute(bank=bank) == 1
    entry.refresh_from_db()
    assert entry.expires_at == NOW - DAYS

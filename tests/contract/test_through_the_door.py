"""The product's own services with each server: look, load, decide, send, look again."""

from collections.abc import Callable

import pytest
from django.utils import timezone

from banks.models import Bank as BankRow
from banks.models import Write
from banks.writes import run
from reviews.models import ReviewEntry
from reviews.services import decide, load, poll, vanished
from tests import factories
from tests.contract.conftest import Bank, Target, registered, until

pytestmark = pytest.mark.django_db(transaction=True)
State, Load, Reopened = ReviewEntry.State, ReviewEntry.Load, ReviewEntry.Reopened


@pytest.fixture
def row(target: Target, bank: Bank, settings):
    """Our row for the bank, looked at once: what is stored from now on is new. No undo window, no settle time."""
    settings.UNDO_SECONDS = 0
    with registered(target, bank, settle_minutes=0) as row:
        assert look(row) == "watermark set"
        yield row


@pytest.fixture
def user(db):
    return factories.make_user(is_superuser=True)


def look(row: BankRow) -> str:
    BankRow.objects.filter(pk=row.pk).update(poll_after=timezone.now(), poll_claimed_until=None)
    return poll.poll(row.pk)


def entry_of(document_id: str) -> ReviewEntry:
    entry = ReviewEntry.objects.get(document_id=document_id)
    ReviewEntry.objects.filter(pk=entry.pk).update(load_after=timezone.now(), load_claimed_until=None)
    load.load(entry.pk)
    entry.refresh_from_db()
    return entry


def shown(entry: ReviewEntry) -> dict[str, object]:
    entry.refresh_from_db()
    return {"entry_id": entry.pk, "version": entry.version, "text_hash": str(entry.text_id)}


def finish(write: Write) -> Write:
    def step() -> str:
        Write.objects.filter(pk=write.pk).update(not_before=timezone.now())
        run(write.pk)
        write.refresh_from_db()
        return write.state

    until(step, lambda state: state not in Write.OPEN)
    assert write.state == Write.State.DONE, write.error_text
    return write


def test_a_new_document_is_found_edited_and_its_own_edit_is_no_event(row, bank, user) -> None:
    bank.store("notes/a", "Ann moved to Lyon. Ben stayed.", tags=["team"], context="a talk")
    assert look(row) == "1 new, 0 changed"
    entry = entry_of("notes/a")
    assert (entry.load_state, entry.fact_count) == (Load.LOADED, 2)
    finish(decide.edit(user=user, new_text="Ann moved to Lyon in May. Ben stayed.", **shown(entry)))
    entry = entry_of("notes/a")
    assert (entry.text_by, entry.live_until) == (user, None)
    decide.approve(user=user, **shown(entry))
    assert look(row) == "0 new, 0 changed"
    document = bank.client.get_document(bank.id, "notes/a")
    assert (document.text, document.tags) == ("Ann moved to Lyon in May. Ben stayed.", ["team"])


def test_a_deleted_document_stays_away_or_is_seen_to_come_back(row, bank, user) -> None:
    bank.store("notes/a", "Ann moved to Lyon.")
    look(row)
    write = finish(decide.delete(user=user, **shown(entry_of("notes/a"))))
    assert entry_of("notes/a").state == State.DELETED
    bank.store("notes/a", "Ann moved to Lyon.")
    assert look(row) == "0 new, 1 changed"
    entry = entry_of("notes/a")
    assert (entry.state, entry.reopened_because) == (State.PENDING, Reopened.CAME_BACK)
    assert Write.objects.get(kind="reopen").undo_of == write


def test_what_an_agent_writes_after_the_approval_opens_it_again(row, bank, user) -> None:
    bank.store("notes/a", "Ann moved to Lyon.")
    look(row)
    decide.approve(user=user, **shown(entry_of("notes/a")))
    bank.store("notes/a", "Ann moved to Nantes.")
    assert look(row) == "0 new, 1 changed"
    entry = entry_of("notes/a")
    assert (entry.state, entry.reopened_because) == (State.PENDING, Reopened.CHANGED)


def test_an_edit_without_facts_is_told_and_taken_back(row, bank, user) -> None:
    bank.store("notes/a", "Ann moved to Lyon.")
    look(row)
    write = finish(decide.edit(user=user, new_text="[[NOFACTS]] Nothing at all.", **shown(entry_of("notes/a"))))
    assert write.outcome["zero_facts"] is True
    entry = entry_of("notes/a")
    assert entry.fact_count == 0
    finish(vanished.revert_edit(user=user, **shown(entry)))
    assert entry_of("notes/a").fact_count == 1


def test_a_document_and_then_its_bank_vanish(row, bank, user, until_missing) -> None:
    bank.store("notes/a", "Ann moved to Lyon.")
    look(row)
    entry = entry_of("notes/a")
    bank.client.delete_document(bank.id, "notes/a")
    until_missing(entry)
    finish(vanished.put_back_vanished(user=user, entry_id=entry.pk, version=entry.version))
    assert entry_of("notes/a").load_state == Load.LOADED
    bank.client.delete_bank(bank.id)
    until_missing(entry)
    assert entry.load_error == "There is no such bank on this server."
    write = vanished.put_back_vanished(user=user, entry_id=entry.pk, version=entry.version)
    assert run(write.pk) == "attention"
    assert not bank.client.has_bank(bank.id)  # nothing of ours made it again


@pytest.fixture
def until_missing() -> Callable[[ReviewEntry], None]:
    def wait(entry: ReviewEntry) -> None:
        for _ in range(load.LOOKS_BEFORE_MISSING):
            entry_of(entry.document_id)
        entry.refresh_from_db()
        assert entry.load_state == Load.MISSING

    return wait

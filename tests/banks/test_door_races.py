"""Several workers on one row, and a person who takes back what a worker is about to send."""

from datetime import timedelta
from functools import partial

import pytest
from django.conf import LazySettings
from django.utils import timezone

from banks import connections, tasks
from banks.models import Bank, Write
from banks.writes import worker
from reviews.errors import NotDecided
from reviews.models import ReviewEntry
from reviews.services import decide, load
from tests import factories
from tests.banks.conftest import LyingTransport, store
from tests.conftest import People
from tests.racing import ROUNDS, at_once

pytestmark = pytest.mark.django_db(transaction=True)
State = Write.State


@pytest.fixture(autouse=True)
def no_undo_window(settings: LazySettings) -> None:
    settings.UNDO_SECONDS = 0


def loaded(bank: Bank, number: int) -> ReviewEntry:
    document_id = f"race/{number}.md"
    store(bank, document_id, "Ann keeps the ledger.")
    wanted = {"load_state": ReviewEntry.Load.LOADING, "load_after": timezone.now(), "text": ""}
    entry = factories.make_entry(bank, document_id, **wanted)  # type: ignore[arg-type]
    assert load.load(entry.pk) == "loaded"
    entry.refresh_from_db()
    return entry


def shown(entry: ReviewEntry) -> dict[str, object]:
    return {"entry_id": entry.pk, "version": entry.version, "text_hash": str(entry.text_id)}


def deletion(bank: Bank, people: People, number: int) -> Write:
    return decide.delete(user=people.reviewer, **shown(loaded(bank, number)))  # type: ignore[arg-type]


def test_of_two_workers_one_sends(bank: Bank, people: People, line: LyingTransport) -> None:
    for number in range(ROUNDS):
        write = deletion(bank, people, number)
        line.calls.clear()
        words = at_once(partial(worker.run, write.pk), partial(worker.run, write.pk))
        write.refresh_from_db()
        assert (write.state, write.attempts, line.sent("DELETE")) == (State.DONE, 1, 1), words
        assert "done" in words


@pytest.mark.parametrize("arrived", [True, False])
def test_of_two_workers_one_takes_over_from_a_dead_one(
    bank: Bank, people: People, line: LyingTransport, arrived: bool
) -> None:
    for number in range(ROUNDS):
        write = deletion(bank, people, number)
        if arrived:
            with connections.client_for(bank.server) as client:
                client.delete_document(bank.bank_id, write.document_id)
        line.calls.clear()
        past = timezone.now() - timedelta(seconds=1)
        Write.objects.filter(pk=write.pk).update(
            state=State.SENDING, claim=1, attempts=1, sent=past, claimed_until=past
        )
        work = partial(worker.run, write.pk)

        words = at_once(work, work)
        assert ("done" if arrived else "retrying") in words
        Write.objects.filter(pk=write.pk).update(not_before=past)  # the pause is over
        at_once(work, work)

        write.refresh_from_db()
        assert (write.state, line.sent("DELETE")) == (State.DONE, 0 if arrived else 1), words


def test_it_is_taken_back_or_it_is_sent(bank: Bank, people: People, line: LyingTransport) -> None:
    for number in range(ROUNDS):
        write = deletion(bank, people, number)
        entry = ReviewEntry.objects.of_document(bank=bank, document_id=write.document_id).get()
        line.calls.clear()
        undone, _ = at_once(
            partial(decide.undo, user=people.reviewer, entry_id=entry.pk), partial(worker.run, write.pk)
        )
        write.refresh_from_db()
        entry.refresh_from_db()
        if isinstance(undone, NotDecided):
            assert (write.state, entry.state, line.sent("DELETE")) == (State.DONE, "deleted", 1)
        else:
            assert (write.state, entry.state, line.sent("DELETE")) == (State.CANCELLED, "pending", 0)


def test_two_sweeps_tell_each_row_once(bank: Bank, people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    monkeypatch.setattr(tasks.send_write, "apply_async", lambda args, **options: told.append(args[0]))
    for _ in range(ROUNDS):
        entries = [factories.make_entry(bank) for _ in range(3)]
        rows = [decide.delete(user=people.reviewer, **shown(entry)).pk for entry in entries]  # type: ignore[arg-type]
        Write.objects.filter(pk__in=rows).update(dispatched_until=None)  # their messages were lost
        told.clear()
        assert sum(at_once(worker.sweep, worker.sweep)) == len(rows)  # type: ignore[arg-type]
        assert sorted(told) == rows
        Write.objects.filter(pk__in=rows).update(state=State.CANCELLED)

"""Polling a bank's documents: a watermark, a settle time, one entry per document, nothing of our own."""

from collections.abc import Iterator
from datetime import datetime, timedelta

import pytest
import time_machine
from django.http import Http404

from banks import connections, jobs
from banks.models import Bank, Job, Server, Write
from banks.writes import run
from reviews import search
from reviews.access import get_entry
from reviews.models import ReviewEntry
from reviews.services import decide, enqueue, load, look_back, poll
from tests import factories
from tests.banks.conftest import NOW, LyingTransport, line, store
from tests.conftest import People

__all__ = ["line"]

pytestmark = pytest.mark.django_db(transaction=True)
State, Load = ReviewEntry.State, ReviewEntry.Load
MINUTE = timedelta(minutes=1)


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    """Before anything is stored, so that the demo server and we share it."""
    with time_machine.travel(NOW, tick=False) as traveller:
        yield traveller


@pytest.fixture
def watched(clock: time_machine.Traveller, bank: Bank, line: LyingTransport) -> Bank:
    """A bank whose first look was taken: what it held then is nobody's work."""
    assert look(bank) == "watermark set"
    return bank


def look(bank: Bank, at: datetime | None = None) -> str:
    Bank.objects.filter(pk=bank.pk).update(poll_after=NOW - timedelta(days=1), poll_claimed_until=None)
    word = poll.poll(bank.pk)
    bank.refresh_from_db()
    return word


def test_the_first_look_sets_a_watermark_and_opens_nothing(watched: Bank) -> None:
    assert watched.watermark is not None
    assert not ReviewEntry.objects.exists()


def test_a_new_document_opens_after_it_was_quiet(watched: Bank, clock: time_machine.Traveller) -> None:
    clock.shift(MINUTE)
    store(watched, "notes/b.md", "Cara moved to Lyon.", metadata={"session_id": "s-1"})
    look(watched)
    assert not ReviewEntry.objects.exists()
    clock.shift(31 * MINUTE)
    assert look(watched) == "1 new, 0 changed"
    entry = ReviewEntry.objects.get()
    assert list(ReviewEntry.objects.filter(search.matching("notes/b"))) == [entry]  # before its text is loaded
    assert (entry.document_id, entry.sources, entry.session) == ("notes/b.md", [enqueue.SOURCE], "s-1")
    assert (entry.state, entry.load_state) == (State.PENDING, Load.LOADING)
    assert load.load(entry.pk) == "loaded"
    assert look(watched) == "0 new, 0 changed"


def test_a_session_that_goes_on_is_met_when_it_ends(watched: Bank, clock: time_machine.Traveller) -> None:
    for turn in range(4):
        clock.shift(20 * MINUTE)
        store(watched, "session", f"Turn {turn}. " * (turn + 1))
        look(watched)
        assert not ReviewEntry.objects.exists()
    clock.shift(31 * MINUTE)
    look(watched)
    entry = ReviewEntry.objects.get()
    load.load(entry.pk)
    entry.refresh_from_db()
    assert entry.text is not None
    assert entry.text.text.startswith("Turn 3.")
    assert entry.live_until is not None  # the badge


def test_a_bank_may_settle_at_once(watched: Bank, clock: time_machine.Traveller) -> None:
    Bank.objects.filter(pk=watched.pk).update(settle_minutes=0)
    clock.shift(MINUTE)
    store(watched, "notes/b.md", "Cara moved to Lyon.")
    assert look(watched) == "1 new, 0 changed"


def test_an_approved_document_that_is_written_again_reopens_once_it_is_quiet(
    watched: Bank, people: People, clock: time_machine.Traveller
) -> None:
    entry = _opened(watched, clock, "notes/b.md", "Cara moved to Lyon.")
    decide.approve(user=people.reviewer, entry_id=entry.pk, version=entry.version, text_hash=str(entry.text_id))
    clock.shift(MINUTE)
    store(watched, "notes/b.md", "Cara moved to Nantes.")
    clock.shift(31 * MINUTE)
    assert look(watched) == "0 new, 1 changed"
    load.load(entry.pk)
    entry.refresh_from_db()
    assert (entry.state, entry.reopened_because) == (State.PENDING, ReviewEntry.Reopened.CHANGED)
    assert look(watched) == "0 new, 0 changed"


def test_the_same_text_stored_again_is_no_event(watched: Bank, people: People, clock: time_machine.Traveller) -> None:
    entry = _opened(watched, clock, "notes/b.md", "Cara moved to Lyon.")
    decide.approve(user=people.reviewer, entry_id=entry.pk, version=entry.version, text_hash=str(entry.text_id))
    clock.shift(MINUTE)
    store(watched, "notes/b.md", "Cara moved to Lyon.")
    clock.shift(31 * MINUTE)
    assert look(watched) == "0 new, 0 changed"
    entry.refresh_from_db()
    assert entry.state == State.APPROVED


def test_what_we_wrote_ourselves_is_no_event(watched: Bank, people: People, clock: time_machine.Traveller) -> None:
    entry = _opened(watched, clock, "notes/b.md", "Cara moved to Lyon.")
    write = decide.edit(
        user=people.reviewer,
        entry_id=entry.pk,
        version=entry.version,
        text_hash=str(entry.text_id),
        new_text="Cara moved to Lyon in May.",
    )
    assert write is not None
    for _ in range(3):
        Write.objects.filter(pk=write.pk).update(not_before=NOW)
        run(write.pk)
    load.load(entry.pk)
    entry.refresh_from_db()
    decide.approve(user=people.reviewer, entry_id=entry.pk, version=entry.version, text_hash=str(entry.text_id))
    clock.shift(31 * MINUTE)
    assert look(watched) == "0 new, 0 changed"
    # Not even when our entry is not there: the write log knows the text.
    assert enqueue._sent_by_us(watched, {entry.document_hash: _row(watched, "notes/b.md")}) == {entry.document_hash}


def test_a_memory_under_review_that_is_just_being_replaced_says_so(
    watched: Bank, clock: time_machine.Traveller
) -> None:
    entry = _opened(watched, clock, "notes/b.md", "Cara moved to Lyon.")
    clock.shift(MINUTE)
    store(watched, "notes/b.md", "Cara moved to Nantes.")
    look(watched)
    entry.refresh_from_db()
    assert entry.live_until == NOW + 33 * MINUTE + 30 * MINUTE
    assert entry.load_after is None  # not before it has settled


def test_what_vanished_is_found_by_the_walk(watched: Bank, clock: time_machine.Traveller) -> None:
    entry = _opened(watched, clock, "notes/b.md", "Cara moved to Lyon.")
    with connections.client_for(watched.server) as client:
        client.delete_document(watched.bank_id, "notes/b.md")
    look(watched)
    clock.shift(61 * MINUTE)
    look(watched)
    entry.refresh_from_db()
    assert entry.load_after is not None
    for _ in range(load.LOOKS_BEFORE_MISSING):
        ReviewEntry.objects.filter(pk=entry.pk).update(load_after=NOW)
        load.load(entry.pk)
    entry.refresh_from_db()
    assert entry.load_state == Load.MISSING
    store(watched, "notes/b.md", "Cara moved to Lyon.")
    clock.shift(61 * MINUTE)
    look(watched)
    load.load(entry.pk)
    entry.refresh_from_db()
    assert entry.load_state == Load.LOADED


def test_a_deleted_document_that_is_stored_again_much_later_comes_back(
    watched: Bank, people: People, clock: time_machine.Traveller
) -> None:
    entry = _opened(watched, clock, "notes/b.md", "Cara moved to Lyon.")
    write = decide.delete(user=people.reviewer, entry_id=entry.pk, version=entry.version, text_hash=str(entry.text_id))
    clock.shift(MINUTE)
    assert run(write.pk) == "done"
    ReviewEntry.objects.filter(pk=entry.pk).update(load_after=None)
    clock.shift(3 * 24 * 60 * MINUTE)
    store(watched, "notes/b.md", "Cara moved to Lyon.")
    clock.shift(31 * MINUTE)
    look(watched)
    load.load(entry.pk)
    entry.refresh_from_db()
    assert (entry.state, entry.reopened_because) == (State.PENDING, ReviewEntry.Reopened.CAME_BACK)


def test_a_failed_look_keeps_the_watermark_and_says_why(
    watched: Bank, clock: time_machine.Traveller, line: LyingTransport
) -> None:
    before = watched.watermark
    line.cut_before.append("GET")
    assert look(watched) == "failed"
    assert watched.watermark == before
    assert "Unreachable" in watched.poll_error
    assert watched.poll_after > NOW
    assert look(watched) == "0 new, 0 changed"
    assert watched.poll_error == ""


def test_documents_removed_while_we_page_hide_no_others(
    watched: Bank, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(poll, "PAGE", 2)
    clock.shift(MINUTE)
    for number in range(5):
        store(watched, f"n{number}", f"Fact {number}.")
    clock.shift(31 * MINUTE)

    def removed(*args: object, **kwargs: object) -> enqueue.Enqueued:
        with connections.client_for(watched.server) as client:
            if client.find_document(watched.bank_id, "n4"):
                client.delete_document(watched.bank_id, "n4")
        return real(*args, **kwargs)  # type: ignore[arg-type]

    real = enqueue.enqueue
    monkeypatch.setattr(poll, "enqueue", removed)
    look(watched)
    assert set(ReviewEntry.objects.values_list("document_id", flat=True)) >= {"n0", "n1", "n2", "n3"}


def test_two_workers_do_not_look_at_once(watched: Bank, line: LyingTransport) -> None:
    Bank.objects.filter(pk=watched.pk).update(poll_after=NOW, poll_claimed_until=NOW + MINUTE)
    assert poll.poll(watched.pk) == "not due"
    assert poll.due() == []


def test_who_is_asked(watched: Bank) -> None:
    Bank.objects.filter(pk=watched.pk).update(poll_after=NOW)
    assert poll.due() == [watched.pk]
    for changes in ({"polled": False}, {"gone_since": NOW}):
        Bank.objects.filter(pk=watched.pk).update(**changes)
        assert poll.due() == []
        Bank.objects.filter(pk=watched.pk).update(polled=True, gone_since=None)
    Server.objects.filter(pk=watched.server_id).update(health=Server.Health.REFUSED)
    assert poll.due() == []


def test_an_id_no_server_can_address_is_listed_and_never_asked_for(
    watched: Bank, clock: time_machine.Traveller
) -> None:
    row = _row(watched, "notes/a.md")
    from dataclasses import replace

    assert enqueue.enqueue(bank=watched, rows=[replace(row, id="..", content_hash="other")]).new == 1
    entry = ReviewEntry.objects.get()
    assert (entry.load_state, entry.load_after) == (Load.REFUSED, None)


def test_looking_back_is_a_job_that_goes_on_where_it_stopped(
    watched: Bank, people: People, clock: time_machine.Traveller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(look_back, "PAGE", 3)
    monkeypatch.setattr(look_back, "STEP_BACK", 1)
    for number in range(7):
        store(watched, f"old/{number}", f"Fact {number}.")
    clock.shift(2 * 24 * 60 * MINUTE)
    store(watched, "young", "Yesterday's fact.")
    clock.shift(40 * MINUTE)
    job = look_back.start(user=people.owner, bank_id=watched.pk, days=1)
    assert jobs.run(job.pk) == "done"
    assert list(ReviewEntry.objects.values_list("document_id", flat=True)) == ["young"]
    job = look_back.start(user=people.owner, bank_id=watched.pk, days=None)
    assert look_back.start(user=people.owner, bank_id=watched.pk, days=None) == job  # one at a time
    assert jobs.run(job.pk) == "done"
    job.refresh_from_db()
    assert job.result == {"new": 8, "changed": 0}  # and notes/a.md
    assert ReviewEntry.objects.count() == 9


def test_only_admins_look_back(watched: Bank, people: People) -> None:
    from django.core.exceptions import PermissionDenied

    with pytest.raises(PermissionDenied):
        look_back.start(user=people.reviewer, bank_id=watched.pk, days=None)
    with pytest.raises(Http404):
        look_back.start(user=people.stranger, bank_id=watched.pk, days=None)
    assert not Job.objects.exists()


def _opened(bank: Bank, clock: time_machine.Traveller, document_id: str, text: str) -> ReviewEntry:
    clock.shift(MINUTE)
    store(bank, document_id, text)
    clock.shift(31 * MINUTE)
    look(bank)
    entry = ReviewEntry.objects.get(document_id=document_id)
    load.load(entry.pk)
    return get_entry(factories.make_user(is_superuser=True), entry.pk)


def _row(bank: Bank, document_id: str) -> object:
    with connections.client_for(bank.server) as client:
        return client.find_document(bank.bank_id, document_id)

"""Short claims: a worker that works keeps its row, a dead one loses it soon, and one that lost it stores nothing."""

import threading
import time
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.conf import LazySettings
from django.db import OperationalError
from django.utils import timezone

from banks import jobs, pulse
from banks.models import Bank, Blob, Job, Write
from banks.writes import claim, worker
from reviews.models import ReviewEntry
from reviews.services import decide, load, poll
from tests import factories
from tests.banks.conftest import LyingTransport, later
from tests.conftest import People
from tests.stack.support import wait_for

pytestmark = pytest.mark.django_db(transaction=True)
DOCUMENT = "notes/a.md"


@pytest.fixture
def quick(settings: LazySettings) -> None:
    """A pulse of 10 ms; the frozen clock decides what is over."""
    settings.CLAIM_SECONDS = 0.03


@pytest.fixture
def entry(bank: Bank, line: LyingTransport) -> ReviewEntry:
    wanted = {"load_state": ReviewEntry.Load.LOADING, "load_after": timezone.now(), "text": ""}
    entry = factories.make_entry(bank, DOCUMENT, **wanted)  # type: ignore[arg-type]
    assert load.load(entry.pk) == "loaded"
    entry.refresh_from_db()
    return entry


def deletion(entry: ReviewEntry, people: People) -> Write:
    shown = {"entry_id": entry.pk, "version": entry.version, "text_hash": str(entry.text_id)}
    return decide.delete(user=people.reviewer, **shown)  # type: ignore[arg-type]


def test_a_call_that_takes_longer_than_the_claim_keeps_its_row(
    entry: ReviewEntry, people: People, line: LyingTransport, quick: None
) -> None:
    write = deletion(entry, people)
    words: list[str] = []
    with time_machine.travel(write.not_before + later(1), tick=False) as clock:

        def slow() -> None:
            clock.shift(60)
            wait_for(lambda: Write.objects.filter(pk=write.pk, claimed_until__gt=timezone.now()).exists())
            words.append(worker.run(write.pk))

        line.before_call["DELETE"] = slow
        assert worker.run(write.pk) == "done"
    assert words == ["not due"]
    assert line.sent("DELETE") == 1
    write.refresh_from_db()
    assert write.claimed_until is None


def test_a_load_that_takes_longer_than_the_claim_keeps_its_entry(
    entry: ReviewEntry, line: LyingTransport, quick: None
) -> None:
    ReviewEntry.objects.filter(pk=entry.pk).update(load_after=timezone.now())
    words: list[str] = []
    with time_machine.travel(timezone.now() + later(1), tick=False) as clock:

        def slow() -> None:
            clock.shift(60)
            wait_for(lambda: ReviewEntry.objects.filter(pk=entry.pk, load_claimed_until__gt=timezone.now()).exists())
            words.append(load.load(entry.pk))

        line.before_call["GET"] = slow
        assert load.load(entry.pk) == "loaded"
    assert words == ["not due"]
    entry.refresh_from_db()
    assert entry.load_claimed_until is None


def test_a_look_that_takes_longer_than_the_claim_keeps_its_bank(bank: Bank, line: LyingTransport, quick: None) -> None:
    words: list[str] = []
    with time_machine.travel(timezone.now() + later(1), tick=False) as clock:

        def slow() -> None:
            clock.shift(60)
            wait_for(lambda: Bank.objects.filter(pk=bank.pk, poll_claimed_until__gt=timezone.now()).exists())
            words.append(poll.poll(bank.pk))

        Bank.objects.filter(pk=bank.pk).update(polled=True, poll_after=timezone.now())
        line.before_call["GET"] = slow
        poll.poll(bank.pk)
    assert words == ["not due"]
    bank.refresh_from_db()
    assert bank.poll_claimed_until is None
    assert bank.watermark is not None


def test_quick_work_costs_no_renewal() -> None:
    beats: list[int] = []
    with pulse.held(lambda: bool(beats.append(1))):
        pass
    assert beats == []


def test_the_pulse_stops_when_the_claim_is_lost(quick: None) -> None:
    answers = [True, True, False, True]
    pulse._beat(lambda: answers.pop(0), threading.Event(), None)
    assert answers == [True]


def test_work_that_hangs_does_not_keep_its_row_for_ever(quick: None) -> None:
    beats: list[int] = []
    pulse._beat(lambda: bool(beats.append(1)), threading.Event(), time.monotonic())
    assert beats == []


def test_a_database_that_is_away_for_a_beat_does_not_end_the_pulse(quick: None) -> None:
    outcomes: list[Any] = [OperationalError("database is locked"), True, False]

    def renew() -> bool:
        if isinstance(outcome := outcomes.pop(0), Exception):
            raise outcome
        return bool(outcome)

    pulse._beat(renew, threading.Event(), None)
    assert outcomes == []


def test_a_worker_that_wakes_up_after_its_claim_was_taken_stores_nothing(
    entry: ReviewEntry, people: People, line: LyingTransport
) -> None:
    write = deletion(entry, people)

    def overtake() -> None:
        Write.objects.filter(pk=write.pk).update(claim=7, claimed_until=timezone.now() + later(60))

    with time_machine.travel(write.not_before + later(1), tick=False):
        line.before_call["DELETE"] = overtake
        assert worker.run(write.pk) == "lost the claim"
    write.refresh_from_db()
    assert (write.state, write.claim, write.finished) == (Write.State.SENDING, 7, None)
    assert write.claimed_until is not None


def test_nobody_takes_over_the_number_of_a_faster_worker(
    entry: ReviewEntry, people: People, line: LyingTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stalled between the claim and the look at the row, until somebody else has claimed it."""
    write = deletion(entry, people)
    look = claim._claimed

    def stalled(taken: Write) -> Write:
        Write.objects.filter(pk=taken.pk).update(claim=9)
        return look(taken)

    with time_machine.travel(write.not_before + later(1), tick=False):
        monkeypatch.setattr(claim, "_claimed", stalled)
        taken = claim.take(write)
    assert isinstance(taken, claim.Claim)
    assert taken.write.claim == 1
    assert not claim.store(taken.write, state=Write.State.DONE)


def test_a_job_renews_between_its_steps_and_not_within_one(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []

    def work(run: jobs.Run) -> dict[str, Any]:
        def renewed() -> bool:
            before = Job.objects.get(pk=run.job.pk).claimed_until
            clock.shift(1)
            assert run.renew()
            return Job.objects.get(pk=run.job.pk).claimed_until != before

        seen.append(renewed())
        with run.step(done=1, cursor={}):
            seen.append(renewed())
            Blob.objects.store("kept")
        monkeypatch.setattr(jobs, "HANGS_AFTER", -1.0)
        assert not run.renew()  # nothing has moved for too long
        return {}

    monkeypatch.setitem(jobs._handlers, "test", work)
    with time_machine.travel(timezone.now(), tick=False) as clock:
        job = jobs.start(kind="test", owner=None, title="A test", params={})
        assert jobs.run(job.pk) == "done"
    assert seen == [True, False]


def test_a_job_that_somebody_else_took_is_not_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    def work(run: jobs.Run) -> dict[str, Any]:
        Job.objects.update(claimed_until=timezone.now() + timedelta(hours=1))
        assert not run.renew()
        return {}

    monkeypatch.setitem(jobs._handlers, "test", work)
    job = jobs.start(kind="test", owner=None, title="A test", params={})
    assert jobs.run(job.pk) == "not ours"

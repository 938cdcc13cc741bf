"""Jobs: claimed once, resumed, ended once, and a fault of theirs is said without telling secrets."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import OperationalError
from kombu.exceptions import OperationalError as BrokerError

from banks import jobs, pulse, tasks
from banks.models import Blob, Job, JobItem

NOW = datetime(2026, 8, 20, 12, 0, tzinfo=UTC)
CLAIM = jobs.CLAIMS_PER_STEP * pulse.claim_time()
pytestmark = pytest.mark.django_db


@pytest.fixture
def clock() -> Iterator[Any]:
    with time_machine.travel(NOW, tick=False) as traveller:
        yield traveller


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Registers a handler for one test."""

    def register(handler: Any, after: Any = None) -> Job:
        monkeypatch.setitem(jobs._handlers, "test", handler)
        if after is not None:
            monkeypatch.setitem(jobs._after, "test", after)
        return jobs.start(kind="test", owner=None, title="A test", params={"n": 3})

    return register


def three_steps(run: jobs.Run) -> dict[str, Any]:
    for number in range(run.cursor.get("next", 0), 3):
        with run.step(done=number + 1, cursor={"next": number + 1}, total=3):
            Blob.objects.store(f"step {number}")
    return {"steps": run.job.done}


def test_a_job_runs_to_its_end(work: Any) -> None:
    ended: list[str] = []
    job = work(three_steps, after=lambda job: ended.append(job.state))
    assert jobs.run(job.pk) == "done"
    job.refresh_from_db()
    assert (job.state, job.done, job.total, job.result) == ("done", 3, 3, {"steps": 3})
    assert None not in (job.started, job.finished)
    assert job.claimed_until is None
    assert ended == ["done"]


def test_an_ended_job_does_not_run_again(work: Any) -> None:
    job = work(three_steps)
    jobs.run(job.pk)
    assert jobs.run(job.pk) == "not ours"


def test_two_workers_do_not_share_a_job(work: Any, clock: Any) -> None:
    words: list[str] = []

    def nosy(run: jobs.Run) -> dict[str, Any]:
        words.append(jobs.run(run.job.pk))
        return {}

    job = work(nosy)
    assert jobs.run(job.pk) == "done"
    assert words == ["not ours"]


def test_a_worker_that_was_too_slow_stores_nothing_more(work: Any, clock: Any) -> None:
    def slow(run: jobs.Run) -> dict[str, Any]:
        if run.job.attempts == 1:
            clock.move_to(NOW + CLAIM + timedelta(seconds=1), tick=False)
            assert jobs.run(run.job.pk) == "done"  # somebody else takes it and finishes
            with run.step(done=1, cursor={}):
                Blob.objects.store("too late")
        return {"by": "the second"}

    job = work(slow)
    assert jobs.run(job.pk) == "not ours"
    job.refresh_from_db()
    assert job.result == {"by": "the second"}
    assert not Blob.objects.exists()


def test_a_step_that_fails_leaves_no_half(work: Any) -> None:
    def torn(run: jobs.Run) -> dict[str, Any]:
        with run.step(done=1, cursor={"next": 1}):
            Blob.objects.store("half")
            raise ValueError("sk-secret in somebody's text")
        return {}

    job = work(torn)
    assert jobs.run(job.pk) == "failed"
    job.refresh_from_db()
    assert not Blob.objects.exists()
    assert (job.done, job.cursor) == (0, {})
    assert job.error == "It failed by a fault of ours (ValueError)."


def test_a_sentence_for_the_person_reaches_the_person(work: Any) -> None:
    def cannot(run: jobs.Run) -> dict[str, Any]:
        raise jobs.JobError("The bank is gone.")

    job = work(cannot)
    jobs.run(job.pk)
    job.refresh_from_db()
    assert (job.state, job.error) == ("failed", "The bank is gone.")


def test_it_goes_on_where_the_killed_worker_stopped(work: Any, clock: Any) -> None:
    class Killed(BaseException):
        pass

    deaths: list[int] = []

    def dies_once(run: jobs.Run) -> dict[str, Any]:
        for number in range(run.cursor.get("next", 0), 3):
            with run.step(done=number + 1, cursor={"next": number + 1}):
                Blob.objects.store(f"step {number}")
            if number == 1:
                deaths.append(number)
                raise Killed
        return {}

    job = work(dies_once)
    with pytest.raises(Killed):
        jobs.run(job.pk)
    assert jobs.sweep() == 0  # it is still held
    clock.move_to(NOW + CLAIM + timedelta(seconds=1), tick=False)
    assert jobs.sweep() == 1
    assert jobs.run(job.pk) == "done"
    assert (Blob.objects.count(), deaths) == (3, [1])


def test_what_kills_its_workers_is_given_up(work: Any, clock: Any) -> None:
    class Killed(BaseException):
        pass

    def deadly(run: jobs.Run) -> dict[str, Any]:
        raise Killed

    job = work(deadly)
    for number in range(1, jobs.MOST_STARTS + 1):
        with pytest.raises(Killed):
            jobs.run(job.pk)
        clock.move_to(NOW + number * (CLAIM + timedelta(seconds=1)), tick=False)
    assert jobs.run(job.pk) == "failed"
    job.refresh_from_db()
    assert job.error == "It stopped 5 times without getting further."


def test_a_database_that_was_away_is_no_failure(work: Any, clock: Any) -> None:
    def unlucky(run: jobs.Run) -> dict[str, Any]:
        if run.job.attempts == 1:
            raise OperationalError("database is locked")
        return {}

    job = work(unlucky)
    assert jobs.run(job.pk) == "later"
    clock.move_to(NOW + CLAIM + timedelta(seconds=1), tick=False)
    assert jobs.run(job.pk) == "done"


def test_work_nobody_knows_fails_readably() -> None:
    job = jobs.start(kind="unheard-of", owner=None, title="", params={})
    assert jobs.run(job.pk) == "failed"


def test_a_worker_is_told_after_the_commit(
    work: Any, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(tasks.run_job, "apply_async", sent.append)
    with django_capture_on_commit_callbacks(execute=True):
        job = work(three_steps)
        assert sent == []
    assert sent == [(job.pk,)]


def test_a_broker_that_is_away_loses_nothing(
    work: Any, clock: Any, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    def away(arguments: Any) -> None:
        raise BrokerError

    monkeypatch.setattr(tasks.run_job, "apply_async", away)
    with django_capture_on_commit_callbacks(execute=True):
        job = work(three_steps)
    assert jobs.sweep() == 0  # a message is on its way for all we know
    clock.move_to(NOW + timedelta(seconds=30), tick=False)
    sent: list[Any] = []
    monkeypatch.setattr(tasks.run_job, "apply_async", sent.append)
    assert tasks.sweep_jobs() == 1
    assert sent == [(job.pk,)]
    assert tasks.run_job(job.pk) == "done"


def test_work_that_goes_on_now_and_then_stays_one_row(
    work: Any, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[Any] = []
    job = work(lambda run: {"n": run.params["n"]})
    assert not jobs.restart(job.pk, params={"n": 4})  # it has not ended
    jobs.run(job.pk)
    JobItem.objects.create(job=job, number=1, outcome="skipped")
    monkeypatch.setattr(tasks.run_job, "apply_async", sent.append)
    with django_capture_on_commit_callbacks(execute=True):
        assert jobs.restart(job.pk, params={"n": 4})
    assert sent == [(job.pk,)]
    job.refresh_from_db()
    assert (job.state, job.finished, job.attempts, job.result) == ("queued", None, 0, {"n": 3})
    assert not JobItem.objects.exists()
    assert jobs.run(job.pk) == "done"
    job.refresh_from_db()
    assert job.result == {"n": 4}
    assert not jobs.restart(job.pk + 1, params={})

"""Imports that are killed, overtaken or doubled end as one clean run."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import time_machine
from django.conf import LazySettings
from django.db import IntegrityError

from banks import jobs
from banks.models import Bank, Job, Server
from reviews.importing import apply
from reviews.importing import job as importing
from reviews.importing.apply import Applier
from reviews.importing.lookups import Stored
from reviews.importing.plan import Group
from reviews.models import Decision, Parked, ReviewEntry, SourceEvent
from tests.conftest import People
from tests.reviews.queue_files import URL, add, as_bytes, done, import_lines, state_of_things

NOW = datetime(2026, 8, 20, 12, 0, tzinfo=UTC)
LINES = [
    *[add(f"d{number}", bank="nowhere" if number % 5 == 0 else "checkout-service") for number in range(12)],
    "torn",
    *[done(f"d{number}", action="deleted" if number % 2 else "approved") for number in range(0, 12, 3)],
    add("d3", ts="2026-08-19T12:00:00Z"),
    add("d1", reason="manual"),
]


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch, settings: LazySettings, tmp_path: Path) -> None:
    monkeypatch.setattr(importing, "LINES_PER_STEP", 4)
    settings.MEDIA_ROOT = tmp_path


@pytest.fixture
def server(bank: Bank) -> Server:
    bank.server.base_url = URL
    bank.server.save()
    return bank.server


class Killed(BaseException):
    """What a worker sees of its own death: nothing is handled, nothing is tidied up."""


def everything(server: Server, job: Job) -> tuple[object, ...]:
    return state_of_things(server), job.result, Parked.objects.count(), Decision.objects.count()


def clear() -> None:
    for model in (Decision, Parked, SourceEvent, ReviewEntry, Job):
        model.objects.all().delete()


@pytest.mark.parametrize("before_commit", [True, False])
def test_killed_at_any_step_it_ends_as_one_clean_run(
    server: Server, people: People, monkeypatch: pytest.MonkeyPatch, before_commit: bool
) -> None:
    original = Applier.apply
    with time_machine.travel(NOW, tick=False) as clock:
        expected = everything(server, import_lines(LINES, people.reviewer))
        for fatal in range(1, 6):
            clear()
            calls = 0

            def dying(self: Applier, groups: list[Group], fatal: int = fatal) -> None:
                nonlocal calls
                calls += 1
                if calls == fatal and not before_commit:
                    raise Killed
                original(self, groups)
                if calls == fatal:
                    raise Killed

            clock.move_to(NOW, tick=False)
            started = importing.start_import(owner=people.reviewer, machine="ann's laptop", chunks=[as_bytes(LINES)])
            monkeypatch.setattr(Applier, "apply", dying)
            with pytest.raises(Killed):
                jobs.run(started.pk)
            monkeypatch.setattr(Applier, "apply", original)
            assert jobs.run(started.pk) == "not ours"  # the dead worker's claim still holds
            Job.objects.filter(pk=started.pk).update(claimed_until=NOW - timedelta(seconds=1))
            assert jobs.run(started.pk) == "done"
            started.refresh_from_db()
            assert everything(server, started) == expected


def test_a_long_import_is_cut_into_slices(server: Server, people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[int] = []
    monkeypatch.setattr(jobs, "dispatch", sent.append)
    with time_machine.travel(NOW, tick=False):
        expected = everything(server, import_lines(LINES, people.reviewer))
        clear()
        job = importing.start_import(owner=people.reviewer, machine="ann's laptop", chunks=[as_bytes(LINES)])
        words = [jobs.run(job.pk, slice_seconds=-1)]
        assert words == ["goes on"]
        assert sent == [job.pk]
        assert jobs.run(job.pk) == "done"
        job.refresh_from_db()
        assert everything(server, job) == expected


def test_two_imports_at_once_make_one_of_each(server: Server, people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second import stores everything between the first one's look and its insert."""
    original = Applier._store_items
    second = importing.start_import(owner=people.reviewer, machine="ann's laptop", chunks=[as_bytes(LINES)])
    raced = False

    def raced_store(self: Applier, *arguments: object) -> None:
        nonlocal raced
        if not raced:
            raced = True
            raise IntegrityError  # what PostgreSQL says when the other one's rows came first
        original(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(Applier, "_store_items", raced_store)
    first = import_lines(LINES, people.reviewer)
    assert jobs.run(second.pk) == "done"
    second.refresh_from_db()
    assert (first.result["accepted"], second.result["accepted"]) == (first.result["accepted"], 0)
    assert SourceEvent.objects.count() == len(LINES) - 1
    assert SourceEvent.objects.values("identity").distinct().count() == len(LINES) - 1


def test_a_decision_that_came_in_between_is_not_overwritten(
    server: Server, bank: Bank, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The import reads the entry, a person decides, the import stores: it must look again."""
    import_lines([add("a")], people.reviewer)
    looks: list[int] = []
    look = apply.entries_for

    def look_too_early(keys: object) -> dict[tuple[int, str], Stored]:
        found = look(keys)  # type: ignore[arg-type]
        looks.append(len(found))
        if len(looks) == 1:
            return {key: replace(entry, state="pending", version=entry.version - 1) for key, entry in found.items()}
        return found

    decided = ReviewEntry.objects.get()
    ReviewEntry.objects.filter(pk=decided.pk).update(state="approved", version=decided.version + 1, decided_by="Mira")
    monkeypatch.setattr(apply, "entries_for", look_too_early)
    job = import_lines([add("a"), done("a", action="deleted")], people.reviewer)
    assert looks == [1, 1]
    assert job.result["superseded"] == 1
    found = ReviewEntry.objects.get()
    assert (found.state, found.decided_by, found.version) == ("approved", "Mira", decided.version + 1)


def test_a_file_that_vanished_is_said(server: Server, people: People, tmp_path: Path) -> None:
    job = importing.start_import(owner=people.reviewer, machine="x", chunks=[as_bytes([add("a")])])
    for path in tmp_path.iterdir():
        path.unlink()
    assert jobs.run(job.pk) == "failed"
    job.refresh_from_db()
    assert job.error == "The uploaded file is gone. Send it again."

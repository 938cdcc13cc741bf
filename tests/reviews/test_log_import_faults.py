"""Log imports that are repeated, doubled, raced or killed end as one clean run."""

import json
import tracemalloc
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import LazySettings
from django.db import OperationalError
from django.utils import timezone
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis
from hypothesis import strategies as st

from banks import jobs
from banks.models import Bank, Blob, Job, JobItem, Write
from reviews.importing import log_job, log_store
from reviews.importing.log_job import start_log_import
from tests import factories
from tests.conftest import People
from tests.racing import at_once
from tests.reviews.log_files import KILL_A, KILL_B, as_bytes, entry, import_log, recall, restore, retained, retire, rows

LINES = [
    *[recall(f"query {number}", ts=None) for number in range(9)],
    "torn",
    recall("query 3", ts=None),
    "",
    *[entry("error", message="the same")] * 3,
    retire(KILL_A, KILL_B),
    retained("- Ann pays."),
    restore(KILL_A),
]


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch, settings: LazySettings, tmp_path: Path) -> None:
    monkeypatch.setattr(log_job, "ROWS_PER_STEP", 20)
    settings.MEDIA_ROOT = tmp_path


class Killed(BaseException):
    """What a worker sees of its own death: nothing is handled, nothing is tidied up."""


def state() -> list[Any]:
    """Everything an import stores, without what differs between two of them."""
    found = []
    for row in rows():
        params = {name: value for name, value in row.params.items() if name != "import"}
        facts = sorted(row.facts_named.values_list("fact_hash", flat=True))
        found.append((row.kind, row.operation_id, row.private_id, row.request_id, params, row.outcome, facts))
    return found


def clear() -> None:
    JobItem.objects.all().delete()
    Write.objects.all().delete()
    Job.objects.all().delete()


def test_the_same_file_and_a_longer_copy_store_no_line_twice(bank: Bank, people: People) -> None:
    first = import_log(LINES, people.reviewer, bank)
    before = state()
    again = import_log(LINES, people.owner, bank)
    assert state() == before
    assert (first.result["accepted"], again.result["accepted"], again.result["known"]) == (len(before), 0, len(before))
    assert again.result["skipped"] == 1  # it is said again, and kept for this report too
    longer = import_log([*LINES, entry("error", message="the same"), retained("- new")], people.reviewer, bank)
    assert state()[: len(before)] == before
    assert (longer.result["accepted"], longer.result["known"]) == (2, len(before))


def test_other_orders_of_keys_and_line_ends_are_the_same_lines(bank: Bank, people: People) -> None:
    import_log(LINES, people.reviewer, bank)
    turned = [json.dumps(dict(reversed(json.loads(each).items()))) if each[:1] == "{" else each for each in LINES]
    again = import_log("\r\n".join(turned).encode(), people.reviewer, bank)
    assert again.result["accepted"] == 0


def test_another_bank_has_rows_of_its_own(bank: Bank, people: People) -> None:
    other = factories.make_bank()
    import_log(LINES, people.operator, bank)
    assert import_log(LINES, people.operator, other).result["known"] == 0


def test_what_was_erased_does_not_come_back_with_the_same_file(bank: Bank, people: People) -> None:
    import_log([recall()], people.reviewer, bank)
    Blob.objects.filter(pk=rows()[0].private_id).update(data=b"", erased=timezone.now())
    import_log([recall()], people.reviewer, bank)
    private = rows()[0].private
    assert private is not None
    assert (private.text, private.erased is None) == ("", False)
    import_log([recall(), recall("a new line")], people.reviewer, bank)
    private.refresh_from_db()
    assert private.erased is None  # a new line brought the same text: it is here again, and that is visible


@pytest.mark.parametrize("before_commit", [True, False])
def test_killed_at_any_step_it_ends_as_one_clean_run(
    bank: Bank, people: People, monkeypatch: pytest.MonkeyPatch, before_commit: bool
) -> None:
    result = import_log(LINES, people.reviewer, bank).result
    expected, steps = state(), 0
    original = log_store.store
    for fatal in range(1, 20):
        clear()
        calls = 0

        def dying(*arguments: Any, fatal: int = fatal, **values: Any) -> None:
            nonlocal calls
            calls += 1
            if calls == fatal and not before_commit:
                raise Killed
            original(*arguments, **values)
            if calls == fatal:
                raise Killed

        started = start_log_import(user=people.reviewer, bank_id=bank.pk, chunks=[as_bytes(LINES)])
        monkeypatch.setattr(log_job, "store", dying)
        try:
            jobs.run(started.pk)
            break
        except Killed:
            steps += 1
        assert jobs.run(started.pk) == "not ours"  # the dead worker's claim still holds
        Job.objects.filter(pk=started.pk).update(claimed_until=timezone.now() - timedelta(seconds=1))
        monkeypatch.setattr(log_job, "store", original)
        assert jobs.run(started.pk) == "done"
        started.refresh_from_db()
        assert {**started.result} == result
        assert state() == expected
        assert JobItem.objects.filter(job=started).count() == 1
    assert steps > 3


def test_it_goes_on_in_slices_from_where_it_was(bank: Bank, people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    original = log_store._known
    monkeypatch.setattr(log_store, "_known", lambda lot: looked.append(len(lot)) or original(lot))
    job = start_log_import(user=people.reviewer, bank_id=bank.pk, chunks=[as_bytes(LINES)])
    words = []
    while not words or words[-1] == "goes on":
        words.append(jobs.run(job.pk, slice_seconds=-1))
    assert words[-1] == "done"
    assert len(words) > 3
    assert sum(looked) == len(rows())  # each line was looked for once


def test_a_lot_that_had_to_wait_too_long_is_tried_again(
    bank: Bank, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, calls = log_store.store, 0

    def waiting(*arguments: Any, **values: Any) -> None:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise OperationalError("deadlock detected")
        original(*arguments, **values)

    monkeypatch.setattr(log_job, "store", waiting)
    assert import_log(LINES, people.reviewer, bank).state == "done"
    assert len(rows()) == 16


@pytest.mark.django_db(transaction=True)
def test_two_uploads_at_once_are_one(bank: Bank, people: People) -> None:
    for _ in range(5):
        clear()
        started = [
            start_log_import(user=person, bank_id=bank.pk, chunks=[as_bytes(LINES)])
            for person in (people.reviewer, people.owner)
        ]
        assert at_once(*map(_run, started)) == ["done", "done"]
        assert len(rows()) == 16
        accepted = [job.result["accepted"] for job in Job.objects.filter(pk__in=[job.pk for job in started])]
        assert sum(accepted) == 16
        assert [row.params["line"] for row in rows()] == sorted(row.params["line"] for row in rows())


def _run(job: Job) -> Callable[[], str]:
    return lambda: jobs.run(job.pk)


@hypothesis(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.sampled_from(LINES), max_size=12), st.integers(0, 12))
def test_any_beginning_and_then_the_whole_is_the_whole_at_once(
    bank: Bank, people: People, lines: list[str], cut: int
) -> None:
    clear()
    import_log(lines, people.reviewer, bank)
    expected = state()
    clear()
    import_log(lines[:cut], people.reviewer, bank)
    import_log(lines, people.reviewer, bank)
    assert state() == expected


def test_memory_hangs_on_the_lot_and_not_on_the_file(
    bank: Bank, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of each line 16 bytes are remembered, for its identity; its texts are not."""
    monkeypatch.setattr(log_job, "ROWS_PER_STEP", 50)

    def peak(lines: int) -> int:
        data = [retained(f"{number} " + "x" * 16_000).encode() + b"\n" for number in range(lines)]
        job = start_log_import(user=people.reviewer, bank_id=bank.pk, chunks=data)
        del data
        tracemalloc.start()
        jobs.run(job.pk)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    assert peak(500) - peak(100) < 3_000_000  # the difference of the files is 6.4 million bytes

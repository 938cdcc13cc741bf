"""A bulk restore that is refused in part, stopped or killed."""

import os
import signal
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from banks import connections, fact_kinds, jobs
from banks.models import Bank, Job, Write
from banks.writes import run
from reviews.curation import archive, elsewhere
from reviews.models import FactDecision
from reviews.selectors.retired_filters import RetiredFilters
from tests.banks.conftest import LyingTransport, line, store
from tests.conftest import People
from tests.reviews.bulk import drain, facts, on_the_server, restore_all, small_steps
from tests.reviews.pages import text_of

__all__ = ["facts", "line", "small_steps"]

pytestmark = pytest.mark.django_db(transaction=True)


def test_what_was_refused_stays_selected_and_is_tried_again(
    bank: Bank, facts: list[FactDecision], people: People, as_user, line: LyingTransport
) -> None:
    client = as_user(people.reviewer)
    with connections.client_for(bank.server) as server:
        server.delete_document(bank.bank_id, "doc-0")
    store(bank, "doc-0", "Person0 keeps the ledger. It rained.")
    job = archive.start_restore(user=people.reviewer, picks=[fact.pk for fact in facts])
    jobs.run(job.pk)
    drain()
    page = text_of(client.get(f"/facts/retired/jobs/{job.pk}/"))
    assert "<b>4</b> confirmed, <b>1</b> refused" in page
    assert f"/facts/retired/?refused={job.pk}" in page
    # Gone from the bank: a person wanted it back, so it waits for nobody and is not offered again.
    assert 'name="pick"' not in text_of(client.get(f"/facts/retired/?refused={job.pk}"))
    assert as_user(people.owner).get(f"/facts/retired/?refused={job.pk}").status_code == 404


def test_a_refusal_that_passes_leaves_one_row_that_counts(
    bank: Bank, facts: list[FactDecision], people: People, as_user, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fact_kinds, "_absence", lambda *_: fact_kinds.AWAY)
    there = facts[0].fact_id
    away = "00000000-0000-4000-8000-00000000dead"
    FactDecision.objects.filter(pk=facts[0].pk).update(fact_id=away)
    job = archive.start_restore(user=people.reviewer, picks=[fact.pk for fact in facts[:2]])
    jobs.run(job.pk)
    drain()
    client = as_user(people.reviewer)
    page = text_of(client.get(f"/facts/retired/?refused={job.pk}"))
    assert page.count('name="pick"') == 1
    assert f'value="{facts[0].pk}" checked' in page
    assert "The server lists it and does not find it" in page
    FactDecision.objects.filter(pk=facts[0].pk).update(fact_id=there)
    Write.objects.filter(state="attention").update(fact_ids=[there])
    client.post("/facts/retired/restore/", {"pick": [str(facts[0].pk)]})
    jobs.run(Job.objects.filter(kind=archive.RESTORE).order_by("-pk")[0].pk)
    drain()
    assert sorted(Write.objects.filter(kind="restore").values_list("state", flat=True)) == ["cancelled", "done", "done"]
    assert FactDecision.objects.filter(shelf="restored").count() == 2


def test_a_job_is_stopped_between_two_facts(bank: Bank, facts: list[FactDecision], people: People, as_user) -> None:
    job = restore_all(people)
    first = Write.objects.order_by("pk").values_list("pk", flat=True)[0]
    run(first)
    client = as_user(people.reviewer)
    assert as_user(people.owner).post(f"/facts/retired/jobs/{job.pk}/stop/").status_code == 404
    answer = client.post(f"/facts/retired/jobs/{job.pk}/stop/", follow=True)
    assert "4 that had not been sent stay as they were" in text_of(answer)
    drain()
    assert len(on_the_server(bank, "valid")) == 1
    assert FactDecision.objects.filter(shelf="retired").count() == 4


def test_a_job_that_is_stopped_while_it_is_recorded_records_no_more(facts: list[FactDecision], people: People) -> None:
    job = archive.start_restore(user=people.reviewer, filters=RetiredFilters())
    assert jobs.run(job.pk, on_progress=lambda run: archive.stop(user=people.reviewer, job=run)) == "not ours"
    job.refresh_from_db()
    assert (job.state, job.result) == (Job.State.CANCELLED, {"stopped_by": "Mira Kovač"})
    assert list(Write.objects.values_list("state", flat=True)) == ["cancelled", "cancelled"]


def test_a_worker_that_is_killed_for_good_loses_and_repeats_nothing(
    facts: list[FactDecision], people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SIGKILL in the middle of a step, in a process of its own."""
    job = archive.start_restore(user=people.reviewer, filters=RetiredFilters())
    connection.close()
    if connection.vendor == "postgresql":
        connection.close_pool()  # type: ignore[attr-defined]  # two processes must not share a socket
    if (child := os.fork()) == 0:
        real, calls = archive._restore, []

        def killed(*args: object, **values: object) -> Write:
            calls.append(args)
            if len(calls) == 4:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*args, **values)  # type: ignore[arg-type]

        archive._restore = killed  # type: ignore[assignment]
        jobs.run(job.pk)
        os._exit(0)
    assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
    assert Write.objects.count() == 2  # whole steps only
    assert jobs.run(job.pk) == "not ours"  # perhaps it still lives
    Job.objects.update(claimed_until=None)
    assert jobs.run(job.pk) == "done"
    assert sorted(fact_id for write in Write.objects.all() for fact_id in write.fact_ids) == sorted(
        fact.fact_id for fact in facts
    )
    job.refresh_from_db()
    assert (job.done, job.result) == (5, {"recorded": 5, "skipped": 0})


def test_the_banks_are_counted_again_when_the_last_has_ended(
    bank: Bank, facts: list[FactDecision], people: People, as_user
) -> None:
    Bank.objects.filter(pk=bank.pk).update(retired_count=5, counted_at=timezone.now())
    job = restore_all(people)
    assert elsewhere.look_of(bank) is None
    drain()
    look = elsewhere.look_of(bank)
    assert look is not None
    jobs.run(look.pk)
    page = text_of(as_user(people.reviewer).get(f"/facts/retired/jobs/{job.pk}/"))
    assert "<b>0</b> in 1 bank, read from the servers" in page


def test_what_is_retired_after_the_count_is_not_restored(bank: Bank, facts: list[FactDecision], people: People) -> None:
    FactDecision.objects.filter(pk=facts[0].pk).update(verdict="restored")
    job = archive.start_restore(user=people.reviewer, filters=RetiredFilters())
    FactDecision.objects.filter(pk=facts[0].pk).update(verdict="retired", at=timezone.now() + timedelta(seconds=1))
    jobs.run(job.pk)
    assert Write.objects.count() == job.params["total"] == 4

"""Many retired facts come back as one act: counted, resumable, and undone as a unit."""

import pytest

from banks import fact_kinds, jobs
from banks.models import Bank, Job, Write
from banks.writes import run
from reviews.curation import archive
from reviews.errors import TooLate
from reviews.models import FactDecision
from reviews.selectors.retired_filters import RetiredFilters
from reviews.selectors.retired_jobs import may_undo, progress_of
from tests.banks.conftest import line
from tests.conftest import People
from tests.reviews.bulk import drain, facts, on_the_server, restore_all, small_steps
from tests.reviews.pages import HTMX, text_of

__all__ = ["facts", "line", "small_steps"]

pytestmark = pytest.mark.django_db(transaction=True)


def test_all_come_back_and_each_has_a_row_of_one_group(
    bank: Bank, facts: list[FactDecision], people: People, as_user
) -> None:
    job = restore_all(people)
    client = as_user(people.reviewer)
    page = client.get(f"/facts/retired/jobs/{job.pk}/", headers=HTMX)
    assert (page.status_code, "every 2s" in text_of(page), "<b>5</b> waiting" in text_of(page)) == (200, True, True)
    drain()
    page = client.get(f"/facts/retired/jobs/{job.pk}/", headers=HTMX)
    assert (page.status_code, "every 2s" in text_of(page)) == (286, False)
    assert "<b>5</b> confirmed" in text_of(page)
    assert len(on_the_server(bank, "valid")) == 5
    assert set(FactDecision.objects.values_list("verdict", flat=True)) == {"restored"}
    assert {str(group) for group in Write.objects.values_list("group", flat=True)} == {job.params["group"]}


def test_a_killed_job_goes_on_and_repeats_nothing(facts: list[FactDecision], people: People, monkeypatch) -> None:
    job = archive.start_restore(user=people.reviewer, filters=RetiredFilters())
    real, calls = archive._restore, []

    def killed(*args: object, **values: object) -> Write:
        calls.append(args)
        if len(calls) == 4:  # in the middle of the second step
            raise KeyboardInterrupt
        return real(*args, **values)  # type: ignore[arg-type]

    monkeypatch.setattr(archive, "_restore", killed)
    with pytest.raises(KeyboardInterrupt):
        jobs.run(job.pk)
    assert Write.objects.count() == 2  # whole steps only
    Job.objects.update(claimed_until=None)
    assert jobs.run(job.pk) == "done"
    assert jobs.run(job.pk) == "not ours"
    assert sorted(fact_id for write in Write.objects.all() for fact_id in write.fact_ids) == sorted(
        fact.fact_id for fact in facts
    )


def test_what_cannot_be_restored_is_named_with_its_reason(
    bank: Bank, facts: list[FactDecision], people: People, as_user
) -> None:
    FactDecision.objects.filter(pk=facts[0].pk).update(fact_id="00000000-0000-4000-8000-00000000dead")
    archive.restore_one(user=people.owner, decision_id=facts[1].pk)
    FactDecision.objects.filter(pk=facts[2].pk).update(verdict="restored")
    job = archive.start_restore(user=people.reviewer, picks=[fact.pk for fact in facts])
    jobs.run(job.pk)
    drain()
    page = text_of(as_user(people.reviewer).get(f"/facts/retired/jobs/{job.pk}/"))
    for words in ("<b>2</b> confirmed, <b>1</b> refused, <b>2</b> not tried", fact_kinds.GONE, archive.UNDER_WAY):
        assert words in page
    assert archive.NOT_RETIRED in page


def test_the_group_is_undone_as_a_unit_with_the_old_reasons(
    bank: Bank, facts: list[FactDecision], people: People, as_user
) -> None:
    job = restore_all(people)
    drain()
    assert may_undo(job)
    client = as_user(people.reviewer)
    answer = client.post(f"/facts/retired/jobs/{job.pk}/undo/")
    undo = Job.objects.get(kind=archive.RETIRE)
    assert answer["Location"] == f"/facts/retired/jobs/{undo.pk}/"
    jobs.run(undo.pk)
    drain()
    assert on_the_server(bank, "invalidated") == {f"doc-{n}": f"reason {n}" for n in range(5)}
    assert FactDecision.objects.filter(verdict="retired", user=people.reviewer).count() == 5
    assert not may_undo(job)
    with pytest.raises(TooLate):
        archive.start_undo(user=people.reviewer, job=job)
    assert as_user(people.owner).post(f"/facts/retired/jobs/{job.pk}/undo/").status_code == 404


def test_an_undo_cancels_what_waits_and_leaves_what_changed(
    bank: Bank, facts: list[FactDecision], people: People
) -> None:
    job = restore_all(people)
    first, second, *_ = Write.objects.order_by("pk").values_list("pk", flat=True)
    run(first)
    run(second)
    FactDecision.objects.filter(pk=facts[1].pk).update(write=None)  # somebody decided again
    undo = archive.start_undo(user=people.reviewer, job=job)
    jobs.run(undo.pk)
    drain()
    assert progress_of(job).cancelled == 3
    assert sorted(on_the_server(bank, "valid")) == ["doc-1"]
    assert [item.reason for item in undo.items.all()] == [archive.CHANGED]


def test_a_role_that_ended_restores_nothing(facts: list[FactDecision], people: People) -> None:
    job = archive.start_restore(user=people.reviewer, picks=[fact.pk for fact in facts])
    people.reviewer.memberships.all().delete()
    jobs.run(job.pk)
    assert {item.reason for item in job.items.all()} == {archive.NO_ROLE}
    assert not Write.objects.exists()

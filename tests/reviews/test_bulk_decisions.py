"""One verdict on many memories: each decided by itself, in one group, resumable, and taken back as a unit."""

from typing import Any

import pytest

from banks import jobs
from banks.models import Bank, Job, Role, Write
from reviews.bulk import deciding, scope, undoing
from reviews.errors import TooLate
from reviews.models import Decision, ReviewEntry
from reviews.selectors.bulk import may_undo, progress_of
from reviews.selectors.filters import Filters
from reviews.services import decide
from reviews.services.seen import open_card
from tests import factories
from tests.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def small_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deciding, "ROWS_PER_STEP", 2)
    monkeypatch.setattr(undoing, "ROWS_PER_STEP", 2)


@pytest.fixture
def memories(bank: Bank) -> list[ReviewEntry]:
    return [factories.make_entry(bank, f"notes/{number}.md") for number in range(5)]


def started(people: People, verdict: str = "approve", **asked: str) -> Job:
    found = scope.sort_matching(people.reviewer, Filters(**asked), verdict)
    return deciding.start(user=people.reviewer, verdict=verdict, picks=found.picks)


def done(job: Job) -> Job:
    assert jobs.run(job.pk) == "done"
    job.refresh_from_db()
    return job


def states() -> set[str]:
    return set(ReviewEntry.objects.values_list("state", flat=True))


def reasons(job: Job) -> list[str]:
    return [item.reason for item in job.items.filter(outcome=deciding.REFUSED)]


def test_each_has_a_decision_and_a_row_of_one_group(memories: list[ReviewEntry], people: People) -> None:
    job = done(started(people))
    assert states() == {"approved"}
    assert {str(group) for group in Write.objects.values_list("group", flat=True)} == {job.params["group"]}
    decisions = Decision.objects.order_by("entry")
    assert [each.entry_id for each in decisions] == [entry.pk for entry in memories]
    assert {(each.user, each.verdict, each.version) for each in decisions} == {(people.reviewer, "approved", 1)}
    assert [each.text_hash for each in decisions] == [entry.text_id for entry in memories]


def test_approving_leaves_out_what_nobody_looked_at(bank: Bank, memories: list[ReviewEntry], people: People) -> None:
    marks = [{"what": "bidi", "tone": "danger", "count": 1, "note": ""}]
    for name in ("opened", "unopened"):
        factories.make_entry(bank, f"flagged/{name}.md", marks=marks, danger=True)
        factories.make_entry(bank, f"long/{name}.md", text=f"{name} " * 4_000)
    factories.make_entry(bank, "away.md", load_state="unreachable")
    for entry in ReviewEntry.objects.filter(document_id__endswith="/opened.md"):
        open_card(user=people.reviewer, entry=entry, part=1)
    found = scope.sort_matching(people.reviewer, Filters(), "approve")
    assert (found.total, found.left) == (7, {"flagged": 1, "clipped": 1, "unloaded": 1})
    job = done(deciding.start(user=people.reviewer, verdict="approve", picks=found.picks))
    assert not reasons(job)
    waiting = ReviewEntry.objects.filter(state="pending").values_list("document_id", flat=True)
    assert sorted(waiting) == ["away.md", "flagged/unopened.md", "long/unopened.md"]
    assert scope.sort_matching(people.reviewer, Filters(), "delete").left == {"flagged": 0, "clipped": 0, "unloaded": 1}


def test_what_changed_since_it_was_counted_is_refused_and_stays(memories: list[ReviewEntry], people: People) -> None:
    job = started(people)
    first, second, third, *_ = memories
    decide.approve(user=people.owner, entry_id=first.pk, version=1, text_hash=first.text_id or "")
    ReviewEntry.objects.filter(pk=second.pk).update(version=2)
    ReviewEntry.objects.filter(pk=third.pk).update(danger=True)
    done(job)
    assert progress_of(job).decided == 2
    ours, written, flagged = reasons(job)
    assert people.owner.display_name in ours
    assert "written again" in written
    assert flagged == deciding.LEFT_OUT["flagged"]
    assert ReviewEntry.objects.filter(state="pending").count() == 2


def test_what_matches_only_later_is_not_decided_on(bank: Bank, memories: list[ReviewEntry], people: People) -> None:
    job = started(people)
    factories.make_entry(bank, "later.md")
    done(job)
    assert [entry.document_id for entry in ReviewEntry.objects.filter(state="pending")] == ["later.md"]


def test_a_killed_job_goes_on_and_repeats_nothing(memories: list[ReviewEntry], people: People, monkeypatch) -> None:
    job, real, calls = started(people), decide.approve, []

    def killed(**values: Any) -> Decision:
        calls.append(values)
        if len(calls) == 4:  # in the middle of the second step
            raise KeyboardInterrupt
        return real(**values)

    monkeypatch.setattr(decide, "approve", killed)
    with pytest.raises(KeyboardInterrupt):
        jobs.run(job.pk)
    assert Decision.objects.count() == 2  # whole steps only
    Job.objects.update(claimed_until=None)
    done(job)
    assert jobs.run(job.pk) == "not ours"
    assert Decision.objects.count() == len(memories)


def test_a_role_that_ended_decides_nothing(memories: list[ReviewEntry], people: People) -> None:
    job = started(people)
    people.reviewer.memberships.all().delete()
    done(job)
    assert set(reasons(job)) == {deciding.NO_ROLE}
    assert states() == {"pending"}


def test_the_group_is_taken_back_as_a_unit(memories: list[ReviewEntry], people: People) -> None:
    job = started(people)
    with pytest.raises(TooLate):
        undoing.start(user=people.reviewer, job=job)  # it has not ended
    done(job)
    assert may_undo(job)
    decide.undo(user=people.owner, entry_id=memories[0].pk)
    undo = done(undoing.start(user=people.reviewer, job=job))
    assert states() == {"pending"}
    assert reasons(undo) == [undoing.CHANGED]
    assert Write.objects.filter(kind="undo", group=undo.params["group"]).count() == 4
    assert not may_undo(job)
    with pytest.raises(TooLate):
        undoing.start(user=people.reviewer, job=job)


def test_nothing_of_a_deletion_is_sent_before_all_of_it_is_recorded(
    memories: list[ReviewEntry], people: People
) -> None:
    job = done(started(people, "delete"))
    assert states() == {"deleting"}
    assert {write.not_before.isoformat() for write in Write.objects.all()} == {job.params["send_at"]}
    done(undoing.start(user=people.reviewer, job=job))
    assert states() == {"pending"}
    assert set(Write.objects.filter(kind="delete").values_list("state", flat=True)) == {"cancelled"}


def test_a_job_that_is_stopped_decides_no_further(memories: list[ReviewEntry], people: People) -> None:
    job = started(people)
    deciding.stop(user=people.reviewer, job=job)
    assert jobs.run(job.pk) == "not ours"
    assert states() == {"pending"}


def test_only_what_this_person_may_decide_on_is_counted(memories: list[ReviewEntry], people: People) -> None:
    other = factories.make_bank()
    factories.grant(people.reviewer, other, Role.VIEWER)
    readable = factories.make_entry(other)
    assert scope.sort_matching(people.reviewer, Filters(), "approve").total == 5
    assert scope.sort_picked(people.reviewer, [scope.Pick(readable.pk, 1, "-")], "approve").total == 0
    assert scope.sort_matching(people.reviewer, Filters(state="decided"), "approve").total == 0

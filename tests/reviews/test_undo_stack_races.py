"""Double presses, two tabs and colleagues at the same instant: taken back once, or not at all."""

from functools import partial

import pytest

from banks.models import Bank, Job, Write
from banks.writes import worker
from reviews.curation import archive
from reviews.models import Decision, FactDecision, ReviewEntry
from reviews.services import decide, facts
from reviews.undoing.acts import Undone
from reviews.undoing.steps import stack
from tests import factories
from tests.conftest import People
from tests.racing import at_once, refusals
from tests.reviews.retired import retired
from tests.reviews.undoing import act, end, restore, retire, undo, with_facts

pytestmark = pytest.mark.django_db(transaction=True)
ROUNDS = 20


def press(people: People) -> "partial[Undone]":
    return partial(undo, people.reviewer, stack(people.reviewer)[0].name)


def once(results: list[object]) -> None:
    """Every press was answered, and one of them did it."""
    assert not refusals(results)
    assert sorted(each.again for each in results if isinstance(each, Undone)) == [False, *[True] * (len(results) - 1)]


@pytest.mark.parametrize("kind", ["approve", "delete"])
def test_three_presses_open_a_memory_once(kind: str, bank: Bank, people: People) -> None:
    for _ in range(ROUNDS):
        entry = factories.make_entry(bank)
        act(kind, people.reviewer, entry)
        once(at_once(*[press(people)] * 3))
        entry.refresh_from_db()
        assert (entry.state, entry.version) == ("pending", 3)
        assert Decision.objects.filter(entry=entry, verdict="reopened").count() == 1
        assert Write.objects.filter(document_id=entry.document_id, kind="undo").count() == 1


def test_presses_on_facts_make_one_row(bank: Bank, people: People) -> None:
    for number in range(ROUNDS):
        entry = with_facts(bank, f"{number}.md")
        FactDecision.objects.all().delete()
        (retire, restore)[number % 2](people.reviewer, entry, ("f1", "f3")[number % 2])
        once(at_once(*[press(people)] * 2))
        assert Write.objects.filter(document_id=entry.document_id, undo_of__isnull=False).count() == 1


def test_a_bulk_action_is_taken_back_by_one_job(bank: Bank, people: People) -> None:
    for number in range(ROUNDS):
        pick = retired(bank, number).pk
        job = archive.start_restore(user=people.reviewer, picks=[pick])
        group = job.params["group"]
        Write.objects.create(kind="restore", bank=bank, via="web", state="done", group=group, slot=f"s{number}")
        Job.objects.filter(pk=job.pk).update(state="done")
        once(at_once(*[press(people)] * 2))
        assert Job.objects.filter(kind=archive.RETIRE, params__job=job.pk).count() == 1
        Job.objects.update(state="done")


def test_undo_or_a_colleague_but_never_over_her(bank: Bank, people: People) -> None:
    """She takes the approval back and deletes; he presses undo of his approval."""
    for _ in range(ROUNDS):
        entry = factories.make_entry(bank)
        act("approve", people.reviewer, entry)

        def ann(entry: ReviewEntry = entry) -> None:
            decide.undo(user=people.owner, entry_id=entry.pk)
            act("delete", people.owner, entry)

        at_once(press(people), ann)
        entry.refresh_from_db()
        last = Decision.objects.filter(entry=entry).order_by("-pk")[0]
        assert (entry.state, last.verdict) in {("deleting", "deleted"), ("pending", "reopened")}
        assert Write.objects.filter(document_id=entry.document_id, kind="undo").count() == 1


def test_undo_of_a_retirement_or_of_its_row_in_the_log(bank: Bank, people: People) -> None:
    for number in range(ROUNDS):
        entry = with_facts(bank, f"{number}.md")
        FactDecision.objects.all().delete()
        row = retire(people.reviewer, entry, "f1")
        at_once(press(people), partial(facts.restore_row, user=people.owner, write_id=row.pk))
        assert Write.objects.filter(kind="restore", undo_of=row).count() == 1
        end(Write.objects.get(undo_of=row), restored=["f1"])
        Write.objects.filter(actor=people.reviewer).delete() if not row.undone_by.exists() else None


def test_undo_or_the_door(bank: Bank, people: People, monkeypatch: pytest.MonkeyPatch) -> None:
    """A retirement that a worker has taken is not cancelled, and what was cancelled is never sent."""
    sent: list[int] = []

    def step(claimed: object) -> str:
        sent.append(claimed.write.pk)  # type: ignore[attr-defined]
        return "sent"

    monkeypatch.setattr(worker, "_step", step)
    for number in range(ROUNDS):
        row = retire(people.reviewer, with_facts(bank, f"{number}.md"), "f1", ended=False)
        results = at_once(press(people), partial(worker.run, row.pk))
        row.refresh_from_db()
        taken_back = not refusals(results)
        assert (row.state == "cancelled") == taken_back == (row.pk not in sent)
        Write.objects.filter(pk=row.pk).update(state="cancelled")

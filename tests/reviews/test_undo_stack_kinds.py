"""Each kind of action, taken back from the stack: what is in the log then, and where the thing is."""

import json

import pytest

from banks import connections, jobs
from banks.models import Bank, Blob, Job, Write
from banks.writes import run
from reviews.curation import archive
from reviews.models import FactDecision, ReviewEntry
from reviews.services import facts, vanished
from reviews.undoing.acts import NotUndone
from reviews.undoing.judging import PUT_BACK, REVERT, Way
from reviews.undoing.steps import stack, top
from tests import factories
from tests.banks.conftest import NOW, LyingTransport, line, store
from tests.conftest import People
from tests.reviews.retired import retired
from tests.reviews.undoing import act, end, restore, retire, said, undo, verdicts, with_facts

__all__ = ["line"]
pytestmark = pytest.mark.django_db


@pytest.fixture
def entry(bank: Bank) -> ReviewEntry:
    return with_facts(bank)


def last() -> Write:
    return Write.objects.order_by("-pk")[0]


def test_an_approval_and_a_delete_open_the_memory_again(bank: Bank, people: People) -> None:
    for kind in ("approve", "delete"):
        entry = factories.make_entry(bank, f"{kind}.md")
        act(kind, people.reviewer, entry)
        taken = Write.objects.get(kind=kind)
        assert said(people.reviewer) == [f"{kind} of {kind}.md"]
        undone = undo(people.reviewer)
        entry.refresh_from_db()
        assert (undone.entry, entry.state) == (entry.pk, "pending")
        row = last()
        assert (row.kind, row.undo_of, row.actor, row.state) == ("undo", taken, people.reviewer, "done")
        assert said(people.reviewer) == []
    assert Write.objects.get(kind="delete").state == "cancelled"


def test_a_closing_is_taken_back(bank: Bank, people: People) -> None:
    entry = factories.make_entry(bank, load_state="missing")
    vanished.close(user=people.reviewer, entry_id=entry.pk, version=entry.version)
    undo(people.reviewer)
    entry.refresh_from_db()
    assert entry.state == "pending"


def test_a_retirement_that_waits_is_cancelled(entry: ReviewEntry, people: People) -> None:
    write = retire(people.reviewer, entry, "f1", "f2", ended=False)
    assert said(people.reviewer) == ["retire of 2 facts in notes/f.md"]
    undo(people.reviewer)
    write.refresh_from_db()
    assert (write.state, last().kind, last().undo_of) == ("cancelled", "undo", write)
    assert said(people.reviewer) == []


def test_a_retirement_is_restored(entry: ReviewEntry, people: People) -> None:
    write = retire(people.reviewer, entry, "f1", "f2")
    undone = undo(people.reviewer)
    row = last()
    assert (row.kind, row.fact_ids, row.undo_of, row.state) == ("restore", ["f1", "f2"], write, "queued")
    assert (undone.entry, undone.write) == (entry.pk, row.pk)
    end(row, restored=["f1", "f2"])
    assert verdicts(entry.bank) == {"f1": "restored", "f2": "restored"}
    assert said(people.reviewer) == []


def test_a_restoration_is_retired_again_with_the_old_reason(entry: ReviewEntry, people: People) -> None:
    write = restore(people.reviewer, entry, "f3")
    undo(people.reviewer)
    row = last()
    assert (row.kind, row.fact_ids, row.undo_of) == ("retire", ["f3"], write)
    end(row, retired=["f3"])
    assert FactDecision.objects.get(fact_id="f3").reason == "she is back"


def test_the_restoration_of_a_colleagues_retirement_is_an_action_of_its_own(entry: ReviewEntry, people: People) -> None:
    row = retire(people.owner, entry, "f1")
    (mine,) = facts.restore_row(user=people.reviewer, write_id=row.pk)
    end(mine, restored=["f1"])
    assert said(people.reviewer) == ["restore of 1 fact in notes/f.md"]
    undo(people.reviewer)
    again = end(last(), retired=["f1"])
    assert (again.undo_of, FactDecision.objects.get().reason) == (mine, "it died")
    assert said(people.reviewer) == []


def test_an_edited_fact_gets_its_old_text(entry: ReviewEntry, people: People) -> None:
    write = facts.edit(user=people.reviewer, entry_id=entry.pk, fact_id="f1", text_hash="", new_text="Ann left.")
    assert write is not None
    end(write, edited=["f1"])
    undo(people.reviewer)
    row = last()
    assert (row.kind, row.request.text, row.before.text) == ("edit-fact", "Ann keeps the ledger.", "Ann left.")
    assert row.params["seen"] == {"f1": write.request_id}  # the door looks whether it still has our text
    assert row.undo_of == write


def test_a_bulk_restore_is_one_step(bank: Bank, people: People) -> None:
    for number in range(3):
        retired(bank, number)
    job = archive.start_restore(user=people.reviewer, picks=list(FactDecision.objects.values_list("pk", flat=True)))
    assert jobs.run(job.pk) == "done"
    assert said(people.reviewer) == ["restore of 3 facts"]
    undone = undo(people.reviewer)
    assert Job.objects.get(pk=undone.job).params["job"] == job.pk
    assert jobs.run(undone.job) == "done"
    assert set(Write.objects.values_list("state", flat=True)) == {"cancelled"}
    assert said(people.reviewer) == []


def test_a_delete_that_was_sent_is_put_back_by_a_press_of_its_own(bank: Bank, people: People) -> None:
    entry = factories.make_entry(bank)
    write = act("delete", people.reviewer, entry)
    Write.objects.update(state="sending")
    with pytest.raises(NotUndone) as waits:
        undo(people.reviewer)
    assert (waits.value.judged.way, waits.value.passes) == (Way.WAIT, False)
    end(write)
    with pytest.raises(NotUndone) as refused:
        undo(people.reviewer)
    assert (refused.value.judged.why, refused.value.judged.way, refused.value.passes) == (PUT_BACK, Way.OFFER, True)
    assert list(Write.objects.values_list("kind", flat=True)) == ["delete"]


def test_an_edit_is_put_back_by_a_press_of_its_own(bank: Bank, people: People) -> None:
    entry = factories.make_entry(bank, text="Old.")
    write = act("edit", people.reviewer, entry, new_text="New.")
    ReviewEntry.objects.filter(pk=entry.pk).update(text=write.request, load_state="loaded")
    Write.objects.update(state="done")
    with pytest.raises(NotUndone) as refused:
        undo(people.reviewer)
    assert refused.value.judged.why == REVERT
    entry.refresh_from_db()
    shown = {"version": entry.version, "text_hash": str(entry.text_id)}
    back = vanished.revert_edit(user=people.reviewer, entry_id=entry.pk, **shown)  # type: ignore[arg-type]
    assert (back.request.text, back.undo_of) == ("Old.", write)  # type: ignore[union-attr]
    assert stack(people.reviewer) == []


def test_through_the_door_a_fact_is_valid_again(bank: Bank, people: People, line: LyingTransport) -> None:
    store(bank, "notes/a.md", "Ann keeps the ledger.")
    with connections.client_for(bank.server) as client:
        fact = client.list_facts(bank.bank_id, document_id="notes/a.md").items[0]
        entry = with_facts(bank, "notes/a.md")
        facts_of_it = [{"id": fact.id, "text": fact.text, "type": "world", "state": "valid"}]
        ReviewEntry.objects.filter(pk=entry.pk).update(facts=Blob.objects.store(json.dumps(facts_of_it)))
        retirement = retire(people.reviewer, entry, fact.id, ended=False)
        run(retirement.pk)
        assert client.get_fact(bank.bank_id, fact.id).is_retired
        undo(people.reviewer)
        Write.objects.filter(state="queued").update(not_before=NOW)
        run(last().pk)
        assert not client.get_fact(bank.bank_id, fact.id).is_retired
    assert top(people.reviewer) is None

"""The archive with each server: many at once, what was decided in documents that nobody loads, and what goes away."""

import pytest
from django.db import transaction
from django.utils import timezone

from banks import jobs, writes
from banks.fact_kinds import seen_hash
from banks.models import Blob, Job, Write
from banks.writes import run
from reviews.curation import archive, elsewhere, reapply
from reviews.models import FactDecision
from reviews.selectors.retired_filters import RetiredFilters
from reviews.selectors.retired_jobs import progress_of
from reviews.services import facts
from tests.contract.conftest import until
from tests.contract.test_curation import ended, sentences
from tests.contract.test_through_the_door import entry_of, finish, look, row, user

__all__ = ["row", "user"]

pytestmark = pytest.mark.django_db(transaction=True)
NAMES = ["Ada", "Ben", "Cara", "Dan", "Eve"]


def drain() -> None:
    def step() -> bool:
        waiting = Write.objects.filter(state__in=Write.OPEN)
        for pk in waiting.order_by("pk").values_list("pk", flat=True):
            waiting.filter(pk=pk).update(not_before=timezone.now())
            run(pk)
        return waiting.exists()

    until(step, lambda waiting: not waiting)


def looked(row) -> dict[str, object]:
    job = elsewhere.start(row)
    assert jobs.run(job.pk) == "done"
    job.refresh_from_db()
    return dict(job.result)


def test_retired_elsewhere_and_restored_together_and_retired_again_as_a_unit(row, bank, user) -> None:
    for number, name in enumerate(NAMES):
        bank.store(f"notes/{number}", f"{name} keeps ledger number {number}. It rained on day {number}.")
    bank.quiet()
    for number, name in enumerate(NAMES):
        fact = bank.facts(f"notes/{number}")[f"{name} keeps ledger number {number}."]
        bank.client.patch_fact(bank.id, fact, state="invalidated", reason=f"reason {number}")
    assert looked(row)["new"] == len(NAMES)
    bank.client.delete_document(bank.id, "notes/4")  # one of them is gone by the time somebody asks
    job = archive.start_restore(user=user, filters=RetiredFilters(q="ledger"))
    assert jobs.run(job.pk) == "done"
    drain()
    progress = progress_of(job)
    assert (progress.done, progress.refused) == (4, 1)
    assert "no longer in the bank" in Write.objects.get(state="attention").error_text
    assert bank.client.count_facts(bank.id, state="invalidated") == 0
    back = archive.start_undo(user=user, job=Job.objects.get(pk=job.pk))
    assert jobs.run(back.pk) == "done"
    drain()
    retired = bank.client.list_facts(bank.id, state="invalidated").items
    assert sorted(fact.invalidation_reason for fact in retired) == [f"reason {n}" for n in range(4)]


def test_a_document_that_is_deleted_and_stored_again_keeps_its_retirement(row, bank, user) -> None:
    bank.store("notes/a", "Ann moved to Lyon. Ben stayed in Nantes.")
    look(row)
    entry = entry_of("notes/a")
    text = "Ben stayed in Nantes."
    fact = bank.facts("notes/a")[text]
    finish(facts.retire(user=user, entry_id=entry.pk, seen={fact: seen_hash(text)}, reason="he left"))
    bank.quiet()
    bank.client.delete_document(bank.id, "notes/a")
    reapply.document_gone(bank=row, document_id="notes/a")
    assert FactDecision.objects.get().shelf == "gone"
    bank.store("notes/a", "Ann moved to Lyon. Ben stayed in Nantes.")
    ended(entry_of("notes/a"))
    assert set(bank.facts("notes/a", "invalidated")) == {text}
    assert FactDecision.objects.get().shelf == "again"


def test_an_edit_is_found_after_another_tool_has_the_document_processed_again(row, bank, user) -> None:
    bank.store("notes/a", "Ann moved to Lyon. Ben stayed in Nantes.")
    bank.quiet()
    fact = bank.facts("notes/a")["Ben stayed in Nantes."]
    with transaction.atomic():
        write = writes.record(
            kind="edit-fact", bank=row, via=Write.Via.WEB, actor=user, document_id="notes/a", fact_ids=[fact],
            request=Blob.objects.store("Ben stayed in Nantes until May."), before=Blob.objects.store("x"),
            facts_before=Blob.objects.store(f'[{{"id": "{fact}", "text": "Ben stayed in Nantes.", "type": "world"}}]'),
        )  # fmt: skip
    finish(write)
    bank.quiet()
    bank.wait(bank.client.reprocess_document(bank.id, "notes/a"))
    bank.quiet()
    assert fact not in bank.facts("notes/a").values()
    looked(row)
    drain()
    assert "Ben stayed in Nantes until May." in bank.facts("notes/a")


def test_retired_facts_of_a_chunk_that_changes_stay_where_other_chunks_stay(bank) -> None:
    """What both servers do, and what `reviews.curation.ghosts` is for."""
    told = sentences(60)
    bank.store("notes/a", " ".join(told))
    bank.quiet()
    there = bank.facts("notes/a")
    bank.client.patch_fact(bank.id, there[told[0]], state="invalidated", reason="x")
    bank.quiet()
    told[14] = told[14].replace("harbour office", "harbour bureau")
    bank.store("notes/a", " ".join(told))
    bank.quiet()
    assert bank.facts("notes/a", "invalidated") == {told[0]: there[told[0]]}
    assert told[0] in bank.facts("notes/a")
    bank.wait(bank.client.reprocess_document(bank.id, "notes/a"))
    bank.quiet()
    assert bank.facts("notes/a", "invalidated") == {}

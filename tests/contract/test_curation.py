"""Decisions about facts stand again after another writer changed the document, on each server."""

import pytest
from django.utils import timezone

from banks.fact_kinds import seen_hash
from banks.models import Write
from banks.writes import run
from reviews.curation import elsewhere
from reviews.models import FactDecision, ReviewEntry
from reviews.services import facts
from tests.contract.conftest import until
from tests.contract.test_through_the_door import entry_of, finish, look, row, user

__all__ = ["row", "user"]

pytestmark = pytest.mark.django_db(transaction=True)
NAMES = ["Ada", "Ben", "Cara", "Dan", "Eve", "Fay", "Gus", "Hal", "Ida", "Jan", "Kai", "Lea"]
LONG = "next to the archive of the old harbour office, where the paper copies of all the other ledgers have to stay too"


def sentences(count: int) -> list[str]:
    return [f"{NAMES[n % len(NAMES)]} keeps ledger number {n + 100} {LONG}." for n in range(count)]


def ended(entry: ReviewEntry) -> ReviewEntry:
    """The door has sent all there is to send, and the document was loaded since."""

    def step() -> bool:
        waiting = Write.objects.filter(bank=entry.bank, state__in=Write.OPEN)
        for pk in waiting.order_by("pk").values_list("pk", flat=True):
            waiting.filter(pk=pk).update(not_before=timezone.now())
            run(pk)
        return waiting.exists()

    until(step, lambda waiting: not waiting)
    return entry_of(entry.document_id)


def test_retired_and_edited_facts_stand_again_and_what_was_undone_does_not(row, bank, user) -> None:
    told = sentences(60)
    bank.store("notes/ledger", " ".join(told))
    bank.quiet()
    assert look(row) == "1 new, 0 changed"
    entry = entry_of("notes/ledger")
    there = bank.facts("notes/ledger")

    def seen(texts: list[str]) -> dict[str, str]:
        return {there[text]: seen_hash(text) for text in texts}

    retired, undone, edited = told[0:60:3], told[1:5:3], told[2:11:3]
    assert {*retired, *undone, *edited} <= set(there)  # one that lies across two chunks is cut by the server
    finish(facts.retire(user=user, entry_id=entry.pk, seen=seen([*retired, *undone]), reason="it died"))
    entry_of("notes/ledger")
    finish(facts.restore(user=user, entry_id=entry.pk, seen=seen(undone)))
    entry_of("notes/ledger")
    for text in edited:
        new = text.replace("keeps", "audits")
        write = facts.edit(user=user, entry_id=entry.pk, fact_id=there[text], text_hash=seen_hash(text), new_text=new)
        finish(write)
        entry_of("notes/ledger")
    bank.quiet()
    # Another writer changes a sentence of each chunk, and not its length: all of it is extracted anew.
    other = {told[n]: told[n].replace("harbour office", "harbour bureau") for n in (14, 35, 59)}
    changed = [other.get(text, text) for text in told]
    bank.store("notes/ledger", " ".join(changed))
    bank.quiet()
    assert look(row) == "0 new, 1 changed"
    ended(entry_of("notes/ledger"))
    bank.quiet()
    assert set(bank.facts("notes/ledger", "invalidated")) == set(retired)
    assert not {there[text] for text in retired} & set(bank.facts("notes/ledger", "invalidated").values())
    now = set(bank.facts("notes/ledger"))
    assert {text.replace("keeps", "audits") for text in edited} <= now
    assert not now & set(edited)
    assert set(undone) <= now
    assert not Write.objects.filter(state__in=[Write.State.ATTENTION, Write.State.CHANGED]).exists()


def test_a_row_of_facts_is_restored_under_their_new_ids(row, bank, user) -> None:
    bank.store("notes/a", "Ann moved to Lyon. Ben stayed in Nantes. Cara left for Bern.")
    look(row)
    entry = entry_of("notes/a")
    there = bank.facts("notes/a")
    texts = ["Ann moved to Lyon.", "Cara left for Bern."]
    write = finish(facts.retire(user=user, entry_id=entry.pk, seen={there[t]: seen_hash(t) for t in texts}, reason="x"))
    entry_of("notes/a")
    bank.quiet()
    bank.store("notes/a", "Ann moved to Lyon. Ben stayed in Nantes. Cara left for Bern. Dan came.")
    look(row)
    ended(entry_of("notes/a"))
    assert set(bank.facts("notes/a", "invalidated")) == set(texts)
    restored = finish(facts.restore_row(user=user, write_id=write.pk))
    assert len(restored.outcome["restored"]) == 2
    assert not set(restored.outcome["restored"]) & set(write.fact_ids)
    assert bank.facts("notes/a", "invalidated") == {}


def test_what_was_retired_elsewhere_is_found_in_a_document_that_nobody_loaded(row, bank, user) -> None:
    from banks import jobs

    bank.store("notes/b", "Ann moved to Lyon. Ben stayed in Nantes.")
    bank.quiet()
    there = bank.facts("notes/b")
    bank.client.patch_fact(bank.id, there["Ann moved to Lyon."], state="invalidated", reason="she did not")
    bank.quiet()
    job = elsewhere.start(row)
    assert jobs.run(job.pk) == "done"
    decision = FactDecision.objects.get()
    assert (decision.extracted.text, decision.reason, decision.origin) == (
        "Ann moved to Lyon.", "she did not", "observed"
    )  # fmt: skip
    bank.store("notes/b", "Ann moved to Lyon. Ben stayed in Nantes. It rained.")
    bank.quiet()
    job = elsewhere.start(row)
    assert jobs.run(job.pk) == "done"
    write = Write.objects.get()
    finish(write)
    assert set(bank.facts("notes/b", "invalidated")) == {"Ann moved to Lyon."}

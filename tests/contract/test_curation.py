"""Decisions about facts stand again after another writer changed the document, on each server."""

import pytest
from django.utils import timezone

from banks.fact_kinds import seen_hash
from banks.models import Write
from banks.writes import run
from reviews.curation import elsewhere
from reviews.models import FactDecision, ReviewEntry
from reviews.services import extraction, facts
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
    assert len(chunks_of(bank, "notes/ledger")) == 3

    def stand() -> None:
        """All 23 decisions, and neither of the two that were taken back."""
        bank.quiet()
        gone, now = bank.facts("notes/ledger", "invalidated"), bank.facts("notes/ledger")
        assert set(gone) == set(retired)
        assert {text.replace("keeps", "audits") for text in edited} <= set(now)
        assert not set(now) & {*edited, *retired}
        assert set(undone) <= set(now)
        assert not Write.objects.filter(state__in=[Write.State.ATTENTION, Write.State.CHANGED]).exists()

    def ids() -> set[str]:
        return {*bank.facts("notes/ledger").values(), *bank.facts("notes/ledger", "invalidated").values()}

    # Another writer changes one sentence of one chunk, then one of each; never the length, so that chunks stay.
    for places in ((14,), (13, 35, 59)):
        before = ids()
        other = {told[n]: told[n].replace("harbour office", "harbour bureau") for n in places}
        told = [other.get(text, text) for text in told]
        bank.store("notes/ledger", " ".join(told))
        bank.quiet()
        assert look(row) == "0 new, 1 changed"
        ended(entry_of("notes/ledger"))
        stand()
        assert bool(before & ids()) == (len(places) == 1)  # two chunks kept theirs, or none did
    # And the server is asked to extract all of it again.
    before = ids()
    entry.refresh_from_db()
    shown = {"version": entry.version, "text_hash": str(entry.text_id), "facts_hash": str(entry.facts_id)}
    write = finish(extraction.extract_again(user=user, entry_id=entry.pk, **shown))
    assert (write.outcome["retired_before"], write.outcome["facts_kept"]) == (20, len(before))
    ended(entry_of("notes/ledger"))
    stand()
    assert not before & ids()
    assert look(row) == "0 new, 0 changed"
    assert entry_of("notes/ledger").state == "pending"


def chunks_of(bank, document_id: str) -> set[str]:
    return {fact.chunk_id for fact in bank.client.list_facts(bank.id, document_id=document_id, limit=1_000).items}


def test_what_was_retired_elsewhere_just_before_it_stands_again_too(row, bank, user) -> None:
    bank.store("notes/a", "Ann moved to Lyon. Ben stayed in Nantes.")
    look(row)
    entry = entry_of("notes/a")
    there = bank.facts("notes/a")
    bank.client.patch_fact(bank.id, there["Ann moved to Lyon."], state="invalidated", reason="she did not")
    bank.quiet()
    shown = {"version": entry.version, "text_hash": str(entry.text_id), "facts_hash": str(entry.facts_id)}
    finish(extraction.extract_again(user=user, entry_id=entry.pk, **shown))
    ended(entry_of("notes/a"))
    assert set(bank.facts("notes/a", "invalidated")) == {"Ann moved to Lyon."}
    assert not set(there.values()) & set(bank.facts("notes/a", "invalidated").values())


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
    restored = finish(*facts.restore_row(user=user, write_id=write.pk))
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

"""A document whose facts are decided about, extracted anew, and looked at again."""

import pytest
from django.utils import timezone

from banks import connections, fact_kinds
from banks.fact_kinds import seen_hash
from banks.hindsight import Fact
from banks.models import Bank, Write
from banks.writes import run
from reviews.models import ReviewEntry
from reviews.services import facts, load
from tests import factories
from tests.banks.conftest import NOW, LyingTransport, store
from tests.conftest import People

TEXT = "Ann keeps the ledger. Ben reads it. Cara pays for it."


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fact_kinds, "AWAY_PAUSE", 0.0)


@pytest.fixture
def entry(bank: Bank, line: LyingTransport) -> ReviewEntry:
    store(bank, "notes/a.md", TEXT)
    made = factories.make_entry(bank, "notes/a.md", load_state="loading")
    look(made)
    return made


def look(entry: ReviewEntry) -> None:
    ReviewEntry.objects.filter(pk=entry.pk).update(load_after=timezone.now(), load_claimed_until=None)
    assert load.load(entry.pk) in ("loaded", "write under way")
    entry.refresh_from_db()


def drain(entry: ReviewEntry) -> None:
    """Workers do all there is to do, then the document is loaded again."""
    for _ in range(12):
        Write.objects.filter(state__in=Write.OPEN).update(not_before=NOW)
        for pk in Write.objects.filter(state__in=Write.OPEN).order_by("pk").values_list("pk", flat=True):
            run(pk)
    assert not Write.objects.filter(state__in=Write.OPEN).exists()
    look(entry)


def in_bank(bank: Bank, state: str = "valid") -> dict[str, Fact]:
    with connections.client_for(bank.server) as client:
        found = client.list_facts(bank.bank_id, document_id="notes/a.md", state=state).items
    return {fact.text: fact for fact in found}


def retire(entry: ReviewEntry, people: People, text: str, reason: str = "left the company") -> Write:
    fact = in_bank(entry.bank)[text]
    write = facts.retire(user=people.reviewer, entry_id=entry.pk, seen={fact.id: seen_hash(text)}, reason=reason)
    drain(entry)
    write.refresh_from_db()
    assert write.state == Write.State.DONE
    return write


def extracted_anew(entry: ReviewEntry, text: str = TEXT + " It rained.") -> None:
    store(entry.bank, "notes/a.md", text)
    look(entry)  # the load finds what the server forgot …
    drain(entry)  # … and the door brings it back

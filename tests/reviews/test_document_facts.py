"""Reading all facts of a document: however many, and while others change them."""

import pytest

from banks import connections
from banks.models import Bank, Write
from reviews.models import FactDecision, ReviewEntry
from reviews.services import document_facts
from tests.banks.conftest import LyingTransport, line, store
from tests.conftest import People
from tests.reviews.curating import drain, entry, in_bank, look, no_pause, retire

__all__ = ["entry", "line", "no_pause"]

pytestmark = pytest.mark.django_db(transaction=True)
MANY = 1_200


def patch(bank: Bank, fact_id: str, state: str) -> None:
    with connections.client_for(bank.server) as client:
        client.patch_fact(bank.bank_id, fact_id, state=state)


def read(bank: Bank) -> document_facts.DocumentFacts:
    with connections.client_for(bank.server) as client:
        return document_facts.read(client, bank=bank, document_id="notes/a.md")


def test_a_decision_stands_again_in_a_document_of_more_than_a_thousand_facts(
    bank: Bank, entry: ReviewEntry, people: People
) -> None:
    retire(entry, people, "Ben reads it.")
    told = [f"Person{n} keeps the ledger number {n} in a place of its own." for n in range(MANY)]
    store(bank, "notes/a.md", " ".join(["Ben reads it.", *told]))
    look(entry)
    found = read(bank)
    assert (len(found.facts), found.whole) == (MANY + 1, True)
    drain(entry)
    assert list(in_bank(bank, "invalidated")) == ["Ben reads it."]
    assert FactDecision.objects.get().shelf == "again"


def test_a_fact_that_moves_from_list_to_list_in_between_is_read_again(
    bank: Bank, entry: ReviewEntry, people: People, line: LyingTransport
) -> None:
    retire(entry, people, "Ben reads it.")
    fact = in_bank(bank, "invalidated")["Ben reads it."]

    def after_the_first_list() -> None:
        line.before_call["GET"] = lambda: patch(bank, fact.id, "valid")

    line.before_call["GET"] = after_the_first_list
    found = read(bank)
    assert (found.whole, found.moved, found.retired) == (True, False, 0)
    assert [each.state for each in found.facts if each.id == fact.id] == ["valid"]


def test_what_never_stands_still_decides_nothing_and_is_looked_at_again(
    bank: Bank, entry: ReviewEntry, people: People, line: LyingTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    retire(entry, people, "Ben reads it.")
    monkeypatch.setattr(document_facts, "_read", lambda *_, **__: document_facts.DocumentFacts(moved=True, retired=1))
    look(entry)
    assert entry.load_after is not None
    assert FactDecision.objects.get().shelf == "retired"
    assert not Write.objects.filter(via=Write.Via.REAPPLY).exists()

"""Recall: valid facts of the types asked for, the best first; a bank that does not exist stays so."""

import uuid

import pytest

from banks.hindsight import Invalid, NotFound, Recall

LEDGER = "Who keeps the ledger of Acme?"


@pytest.fixture
def facts(bank):
    bank.store("d", "Alice keeps the ledger of Acme. Bob likes green tea. We keep another ledger of Acme.")
    bank.quiet()
    return bank.facts("d")


def test_facts_are_found_with_their_scores(bank, facts):
    hits = bank.client.recall(bank.id, Recall(LEDGER, types=["world"]))
    assert hits[0].fact.text.startswith("Alice keeps the ledger of Acme.")
    assert {hit.fact.type for hit in hits} == {"world"}
    assert {hit.fact.id for hit in hits} <= set(facts.values())
    assert all(isinstance(hit.scores["final"], float) for hit in hits)
    assert hits[0].fact.document_id == "d"


def test_a_retired_fact_is_not_recalled_until_it_is_restored(bank, facts):
    fact = bank.client.recall(bank.id, Recall(LEDGER, types=["world"]))[0].fact
    bank.client.patch_fact(bank.id, fact.id, state="invalidated")
    bank.quiet()
    assert fact.id not in {hit.fact.id for hit in bank.client.recall(bank.id, Recall(LEDGER))}
    bank.client.patch_fact(bank.id, fact.id, state="valid")
    bank.quiet()
    assert fact.id in {hit.fact.id for hit in bank.client.recall(bank.id, Recall(LEDGER))}


def test_observations_name_their_facts_only_when_they_are_asked_to(bank, facts):
    bank.store("e", "Alice keeps the keys of Acme.")
    bank.quiet()

    def sources(**more):
        hits = bank.client.recall(bank.id, Recall(LEDGER, types=["observation"], **more))
        return {fact for hit in hits for fact in hit.fact.source_fact_ids}

    assert facts["Alice keeps the ledger of Acme."] in sources(sources=True)
    assert sources() == set()


def test_what_has_no_room_is_left_out_but_never_all_of_it(bank, facts):
    bank.store("e", "Carol keeps the other ledger of Acme.")
    asked = Recall(LEDGER, types=["world"], max_tokens=1, trace=True)
    told = bank.client.recall_in_full(bank.id, asked)
    assert len(told.hits) == 1
    assert told.trace is not None
    assert len(told.trace.merged) > 1


@pytest.mark.parametrize("asked", [Recall("..."), Recall("Alice?", types=["bogus"])])
def test_what_cannot_be_asked_is_invalid(bank, facts, asked):
    with pytest.raises(Invalid):
        bank.client.recall(bank.id, asked)


def test_a_bank_that_does_not_exist_is_not_made(client):
    name = f"ghost-{uuid.uuid4().hex[:8]}"
    with pytest.raises(NotFound) as missing:
        client.recall(name, Recall("Alice?"))
    assert missing.value.what == "bank"
    assert not client.has_bank(name)

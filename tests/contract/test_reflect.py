"""Reflect: an answer with its sources. A trace: how a recall came to its answer."""

import uuid

import pytest

from banks.hindsight import Invalid, Recall, Reflect

LEDGER = "Who keeps the ledger of Acme?"


@pytest.fixture
def facts(bank):
    bank.store("d", "Alice keeps the ledger of Acme. Bob likes green tea.", tags=["team:core"])
    bank.quiet()
    return bank.facts("d")


def test_an_answer_names_the_facts_it_rests_on(bank, facts):
    told = bank.client.reflect(bank.id, Reflect(LEDGER))
    assert told.text.strip()
    assert told.sources is not None
    assert {each.id for each in told.sources if each.kind == "fact"} & set(facts.values())
    assert told.asked


def test_without_a_question_there_is_no_answer(bank, facts):
    with pytest.raises(Invalid):
        bank.client.reflect(bank.id, Reflect("  "))


def test_it_makes_a_bank_of_a_mistyped_id(client):
    """Which is why nobody may ask before the list of banks was looked at."""
    name = f"ghost-{uuid.uuid4().hex[:8]}"
    assert not client.has_bank(name)
    client.reflect(name, Reflect("Alice?"))
    assert client.has_bank(name)
    client.delete_bank(name)


def test_a_trace_tells_of_the_searches(bank, facts):
    told = bank.client.recall_in_full(bank.id, Recall(LEDGER, types=["world"], trace=True))
    assert told.trace is not None
    assert {hit.fact.id for hit in told.hits} <= set(told.trace.merged)
    assert any(each.found for each in told.trace.searches)
    assert {each.type for each in told.trace.searches} == {"world"}
    assert bank.client.recall_in_full(bank.id, Recall(LEDGER)).trace is None
    assert told.ignored_params == ()


def test_tags_are_matched_as_asked(bank, facts):
    bank.store("untagged", "Carol keeps another ledger of Acme.")
    bank.quiet()

    def documents(**asked):
        hits = bank.client.recall(bank.id, Recall(LEDGER, types=["world"], **asked))
        return {hit.fact.document_id for hit in hits}

    assert documents(tags=["team:core"]) == {"d", "untagged"}
    assert documents(tags=["team:core"], tags_match="any_strict") == {"d"}
    assert documents(tags=["nobody"], tags_match="all_strict") == set()

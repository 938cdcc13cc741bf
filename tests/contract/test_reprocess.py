"""A document extracted again: what the server answers, what it forgets, and what stays."""

import uuid

import pytest

from banks.hindsight import NotFound

TEXT = "Ann moved to Lyon. Ben stayed in Nantes. Cara left for Bern."


@pytest.fixture
def facts(bank):
    bank.store("notes/a", TEXT, tags=["team"], context="a talk", metadata={"k": "v"}, timestamp="2026-02-01T08:00:00Z")
    bank.quiet()
    return bank.facts("notes/a")


def again(bank, document_id="notes/a"):
    operation = bank.wait(bank.client.reprocess_document(bank.id, document_id))
    assert (operation.status, operation.failed) == ("completed", False)
    bank.quiet()
    return operation


def test_all_facts_get_new_ids_and_what_was_decided_about_them_is_forgotten(bank, facts):
    bank.client.patch_fact(bank.id, facts["Ann moved to Lyon."], state="invalidated", reason="she did not")
    bank.client.patch_fact(bank.id, facts["Ben stayed in Nantes."], text="Ben left Nantes.")
    bank.quiet()
    operation = again(bank)
    assert (operation.type, operation.document_id) == ("batch_retain", "notes/a")
    now = bank.facts("notes/a")
    assert set(now) == set(facts)
    assert not set(now.values()) & set(facts.values())
    assert bank.facts("notes/a", "invalidated") == {}
    with pytest.raises(NotFound) as caught:
        bank.client.get_fact(bank.id, facts["Ann moved to Lyon."])
    assert caught.value.what == "fact"


def test_the_document_keeps_its_text_its_parameters_and_its_age(bank, facts):
    before = bank.client.get_document(bank.id, "notes/a")
    again(bank)
    after = bank.client.get_document(bank.id, "notes/a")
    for name in ("text", "content_hash", "created_at", "tags", "metadata", "retain_params", "fact_count"):
        assert getattr(after, name) == getattr(before, name), name
    assert after.updated_at > before.updated_at
    one = bank.client.list_facts(bank.id, document_id="notes/a").items[-1]
    assert (one.tags, one.context, one.metadata) == (["team"], "a talk", {"k": "v"})
    assert one.mentioned_at.isoformat() == "2026-02-01T08:00:00+00:00"


def test_it_is_taken_while_another_one_runs_and_no_fact_is_there_twice(bank, facts):
    operations = [bank.client.reprocess_document(bank.id, "notes/a") for _ in range(2)]
    assert len(set(operations)) == 2
    assert [bank.wait(each).status for each in operations] == ["completed", "completed"]
    bank.quiet()
    assert bank.client.list_facts(bank.id, document_id="notes/a").total == len(facts)


def test_a_document_without_facts_stays_without(bank):
    bank.store("empty", "Nothing of note. [[NOFACTS]]")
    again(bank, "empty")
    assert bank.client.get_document(bank.id, "empty").fact_count == 0


@pytest.mark.parametrize("document_id", ["a/b c#d?e%2F", "notes/chunks", "notes/reprocess", "журнал/7.md"])
def test_every_id_is_reached(bank, document_id):
    bank.store(document_id, "Ann moved to Lyon.")
    bank.quiet()
    before = bank.facts(document_id)
    again(bank, document_id)
    assert bank.facts(document_id).keys() == before.keys()
    assert set(bank.facts(document_id).values()) != set(before.values())


def test_what_is_not_there_is_missing(bank):
    for where in (bank.id, f"never-{uuid.uuid4().hex}"):
        with pytest.raises(NotFound) as caught:
            bank.client.reprocess_document(where, "nope")
        assert caught.value.what == "document"


def test_a_retain_of_the_same_text_forgets_nothing(bank, facts):
    bank.client.patch_fact(bank.id, facts["Ann moved to Lyon."], state="invalidated")
    bank.store("notes/a", TEXT)
    bank.quiet()
    assert set(bank.facts("notes/a", "invalidated")) == {"Ann moved to Lyon."}

"""What else a bank holds: documents by tag, their chunks and histories, entities and the facts that name them."""

import uuid

import pytest

from banks.hindsight import BadAnswer, Invalid, NotFound

LONG = "Alice keeps the long ledger of the house and its gardens. " * 120


def test_documents_are_listed_by_their_tags(bank):
    bank.store("one", "Alice likes tea.", tags=["team:core", "topic:tea"])
    bank.store("two", "Alice likes rye.", tags=["team:core"])
    bank.store("three", "Alice likes oats.")
    for tags, found in ((["team:core"], {"one", "two"}), (["team:core", "topic:tea"], {"one"}), (["team"], set())):
        page = bank.client.list_documents(bank.id, tags=tags)
        assert {row.id for row in page.items} == found
        assert (page.total, page.ignored_params, page.estimated) == (len(found), (), False)


def test_a_search_says_what_it_matched(bank):
    bank.store("tea-list", "Alice likes rye.")
    bank.store("other", "Alice likes tea.")
    found = {row.id: row.matched for row in bank.client.list_documents(bank.id, q="TEA").items}
    assert set(found) == {"tea-list", "other"}
    assert found["tea-list"] == ("id",)
    assert found["other"] == ("original_text",)
    assert [row.matched for row in bank.client.list_documents(bank.id).items] == [(), ()]


def test_chunks_are_the_text_in_pieces_page_by_page(bank):
    bank.store("a/b c", LONG)
    first = bank.client.list_chunks(bank.id, "a/b c", limit=1)
    assert first.total > 1
    rest = bank.client.list_chunks(bank.id, "a/b c", limit=1_000, offset=1)
    chunks = [*first.items, *rest.items]
    assert [chunk.number for chunk in chunks] == list(range(first.total))
    assert {chunk.document_id for chunk in chunks} == {"a/b c"}
    assert all("the long ledger" in chunk.text for chunk in chunks)
    with pytest.raises(Invalid):
        bank.client.list_chunks(bank.id, "a/b c", limit=0)
    with pytest.raises(NotFound) as caught:
        bank.client.list_chunks(bank.id, "never")
    assert caught.value.what == "document"


def test_a_history_tells_of_curation_and_outlives_its_document(bank):
    bank.store("d", "Alice likes tea.")
    bank.quiet()
    (fact_id,) = bank.facts("d").values()
    bank.client.patch_fact(bank.id, fact_id, state="invalidated", reason="no")
    bank.client.patch_fact(bank.id, fact_id, state="valid")
    bank.client.patch_fact(bank.id, fact_id, text="Alice likes rye.")
    bank.quiet()
    events = bank.client.document_history(bank.id, "d").items
    acts = [event.kind for event in events if event.fact_id == fact_id]
    assert sorted(acts) == ["fact_edited", "fact_invalidated", "fact_restored"]
    assert all(event.document_id == "d" for event in events)
    times = [event.at for event in events]
    assert times == sorted(times, reverse=True)
    bank.client.delete_document(bank.id, "d")
    assert "fact_edited" in {event.kind for event in bank.client.document_history(bank.id, "d").items}


def test_a_new_extraction_is_an_event_that_counts(bank):
    bank.store("d", "Alice likes tea. Alice joined Globex.")
    bank.quiet()
    assert bank.wait(bank.client.reprocess_document(bank.id, "d")).status == "completed"
    bank.quiet()
    (event,) = [each for each in bank.client.document_history(bank.id, "d").items if each.kind == "reprocess"]
    assert (event.facts_added, event.facts_removed) == (2, 2)


def test_entities_are_the_names_in_facts(bank):
    bank.store("d", "Alice likes tea. Alice joined Globex. We like rye.")
    bank.quiet()
    found = {each.name: each for each in bank.client.list_entities(bank.id).items}
    assert {"Alice", "Globex"} <= set(found)
    assert found["Alice"].mentions >= found["Globex"].mentions
    assert bank.client.get_entity(bank.id, found["Globex"].id).name == "Globex"
    page = bank.client.list_facts(bank.id, entity_id=found["Globex"].id, type="world")
    assert [fact.text for fact in page.items] == ["Alice joined Globex."]
    assert page.total == 1
    first, second = (bank.client.list_entities(bank.id, limit=1, offset=offset) for offset in (0, 1))
    assert (first.total, len(first.items), len(second.items)) == (len(found), 1, 1)
    assert first.items[0].id != second.items[0].id


def test_entities_that_are_not_there(bank):
    with pytest.raises(NotFound) as caught:
        bank.client.get_entity(bank.id, str(uuid.uuid4()))
    assert caught.value.what == "entity"
    with pytest.raises(Invalid):
        bank.client.get_entity(bank.id, "nobody")
    with pytest.raises(NotFound) as caught:
        bank.client.list_entities(f"never-{uuid.uuid4().hex}")
    assert caught.value.what == "bank"


def test_the_chunks_of_a_shadowed_document_are_its_own(bank):
    bank.store("notes", "Notes are long.")
    bank.store("notes/chunks", "Chunks are short.")
    try:
        found = bank.client.list_chunks(bank.id, "notes/chunks").items
    except (BadAnswer, NotFound):
        return  # said as that, and never another document's
    assert {chunk.document_id for chunk in found} <= {"notes/chunks"}

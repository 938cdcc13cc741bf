"""Documents: stored, listed, read, deleted, whatever their ids look like."""

import hashlib
import uuid
from datetime import UTC, datetime

import pytest

from banks.hindsight import BadAnswer, Invalid, NotAddressable, NotFound, RetainItem

NASTY = [
    "folder/file.md",
    "/lead/and/trail/",
    "a b",
    " lead trail ",
    "ABC#DEF?x=1",
    "100%",
    "team%20x",
    "a_b",
    "a\\b",
    "a+b&c=d;e",
    'it\'s "quoted"',
    "заметки/прибор 7.md",
    "記憶",
    "atlas-🗺️",
    "\u202egnp.exe",
    "z\u200bw",
    "../x",
    "x/../y",
    "...",
    "x" * 600,
    "ж" * 600,
]


@pytest.mark.parametrize("document_id", NASTY, ids=lambda text: ascii(text)[:24])
def test_nasty_ids_are_stored_read_found_and_deleted(bank, document_id):
    bank.store(document_id, "Alice likes tea.")
    assert bank.client.get_document(bank.id, document_id).id == document_id
    assert bank.client.find_document(bank.id, document_id).id == document_id
    assert [fact.document_id for fact in bank.client.list_facts(bank.id, document_id=document_id).items] == [
        document_id
    ]
    assert bank.client.delete_document(bank.id, document_id).units_deleted == 1
    assert bank.client.find_document(bank.id, document_id) is None


def test_an_id_never_reaches_a_neighbour(bank):
    for document_id in ("team%20x", "team x", "team+x", "team", "TEAM"):
        bank.store(document_id, f"The name is {document_id} here.")
    bank.client.delete_document(bank.id, "team x")
    left = {row.id for row in bank.client.list_documents(bank.id).items}
    assert left == {"team%20x", "team+x", "team", "TEAM"}


@pytest.mark.parametrize("document_id", ["notes/chunks", "notes/history"])
def test_ids_that_meet_another_route_are_not_shown_but_deleted_exactly(bank, document_id):
    bank.store("notes", "Notes are long.")
    bank.store(document_id, "Chunks are short.")
    with pytest.raises(BadAnswer, match="cannot show"):
        bank.client.get_document(bank.id, document_id)
    assert bank.client.find_document(bank.id, document_id) is not None
    bank.client.delete_document(bank.id, document_id)
    assert bank.client.find_document(bank.id, document_id) is None
    assert bank.client.get_document(bank.id, "notes").text == "Notes are long."


def test_a_missing_document_with_such_an_id_is_not_called_missing_either(bank):
    with pytest.raises(BadAnswer):
        bank.client.get_document(bank.id, "nothing/chunks")


def test_a_line_break_in_an_id_meets_no_route(bank):
    bank.store("a\nb", "Newlines are odd.")
    with pytest.raises(NotFound) as caught:
        bank.client.get_document(bank.id, "a\nb")
    assert caught.value.what == "route"
    assert bank.client.find_document(bank.id, "a\nb") is not None


@pytest.mark.parametrize("document_id", ["", ".", "..", "a\0b", "half \ud83d"])
def test_what_cannot_be_addressed_is_refused_before_any_call(bank, document_id):
    bank.store("stays", "Alice stays.")
    for call in (bank.client.get_document, bank.client.delete_document, bank.client.find_document):
        with pytest.raises(NotAddressable):
            call(bank.id, document_id)
    with pytest.raises(NotAddressable):
        bank.submit(document_id, "No.")
    assert bank.client.get_document(bank.id, "stays").fact_count == 1


def test_a_document_comes_back_as_it_was_stored(bank):
    text = "\n\n  Alice works at Acme.\r\n\tBob likes “tea”. \u200b\u202e\U000e0041 <b>&amp;</b>\n"
    said = datetime(2026, 2, 1, 8, tzinfo=UTC)
    bank.store("d", text, timestamp=said, context="notes", tags=["b", "a", "b"], metadata={"author": "Zed"})
    document = bank.client.get_document(bank.id, "d")
    assert document.text == text
    assert document.content_hash == hashlib.sha256(text.encode()).hexdigest()
    assert sorted(document.tags) == ["a", "b"]  # the server keeps them as a set: their order is by chance
    assert document.metadata == {"author": "Zed"}
    assert document.retain_params == {
        "context": "notes",
        "metadata": {"author": "Zed"},
        "event_date": "2026-02-01T08:00:00+00:00",
    }
    assert document.created_at == document.updated_at
    row = bank.client.find_document(bank.id, "d")
    assert (row.content_hash, sorted(row.tags), row.text_length) == (document.content_hash, ["a", "b"], len(text))
    assert row.retain_params == document.retain_params


def test_a_long_text_keeps_every_character(bank):
    text = "\n".join(f"Line {number} of the journal says that Kronos waited." for number in range(400))
    bank.store("long", text)
    document = bank.client.get_document(bank.id, "long")
    assert document.text == text
    assert document.content_hash == hashlib.sha256(text.encode()).hexdigest()
    assert document.fact_count > 60


def test_half_characters_in_a_text_become_the_replacement_character(bank):
    bank.store("half", "Alice likes \ud83d tea.")
    assert bank.client.get_document(bank.id, "half").text == "Alice likes \ufffd tea."


def test_a_nul_in_a_text_is_dropped_by_the_server(bank):
    bank.store("nul", "Alice likes\0 tea.")
    assert bank.client.get_document(bank.id, "nul").text == "Alice likes tea."


def test_an_offset_of_the_timestamp_is_kept_in_the_parameters_and_resolved_in_the_facts(bank):
    bank.store("d", "Alice likes tea.", timestamp="2026-02-01T10:00:00+02:00")
    assert bank.client.get_document(bank.id, "d").retain_params["event_date"] == "2026-02-01T10:00:00+02:00"
    (fact,) = bank.client.list_facts(bank.id, document_id="d").items
    assert fact.mentioned_at == datetime(2026, 2, 1, 8, tzinfo=UTC)


def test_without_facts_a_document_is_stored_all_the_same(bank):
    bank.store("empty", "[[NOFACTS]] ok thanks")
    assert bank.client.get_document(bank.id, "empty").fact_count == 0


def test_deleting_takes_the_facts_and_the_second_time_is_a_missing_document(bank):
    bank.store("d", "Alice works at Acme. Bob likes tea.")
    gone = bank.facts("d")
    assert bank.client.delete_document(bank.id, "d").units_deleted == 2
    with pytest.raises(NotFound) as caught:
        bank.client.delete_document(bank.id, "d")
    assert caught.value.what == "document"
    with pytest.raises(NotFound) as caught:
        bank.client.get_fact(bank.id, next(iter(gone.values())))
    assert caught.value.what == "fact"
    assert bank.facts("d") == {}


def test_retired_facts_go_with_their_document_and_are_not_counted(bank):
    bank.store("d", "Alice works at Acme. Bob likes tea.")
    bank.client.patch_fact(bank.id, bank.facts("d")["Bob likes tea."], state="invalidated", reason="no")
    assert bank.client.get_document(bank.id, "d").fact_count == 1
    assert bank.client.delete_document(bank.id, "d").units_deleted == 1
    assert bank.client.count_facts(bank.id, state="invalidated") == 0


def test_tags_can_be_replaced_and_do_not_reach_retired_facts(bank):
    bank.store("d", "Alice works at Acme. Bob likes tea.", tags=["old"])
    bank.client.patch_fact(bank.id, bank.facts("d")["Bob likes tea."], state="invalidated")
    bank.client.set_document_tags(bank.id, "d", ["new"])
    assert bank.client.get_document(bank.id, "d").tags == ["new"]
    assert [fact.tags for fact in bank.client.list_facts(bank.id, document_id="d").items] == [["new"]]
    assert [f.tags for f in bank.client.list_facts(bank.id, document_id="d", state="invalidated").items] == [["old"]]


def test_tags_of_a_missing_document_cannot_be_set(bank):
    with pytest.raises(NotFound) as caught:
        bank.client.set_document_tags(bank.id, "nope", ["x"])
    assert caught.value.what == "document"


def test_documents_are_paged_without_gaps_newest_change_first(bank):
    items = [RetainItem(f"Item {number} is here.", f"k{number}") for number in range(7)]
    bank.wait(bank.client.retain(bank.id, items, operation_id=uuid.uuid4()).operation_id)
    bank.store("k3", "Item 3 is changed.")
    pages = [bank.client.list_documents(bank.id, limit=3, offset=offset) for offset in (0, 3, 6, 9)]
    assert [len(page.items) for page in pages] == [3, 3, 1, 0]
    assert {page.total for page in pages} == {7}
    ids = [row.id for page in pages for row in page.items]
    assert ids[0] == "k3"
    assert sorted(ids) == [f"k{number}" for number in range(7)]


def test_documents_are_searched_by_id_and_text_ignoring_case(bank):
    bank.store("Alpha", "Bob likes tea.")
    bank.store("beta", "Alice met ALPHA people.")
    bank.store("gamma", "Nothing here.")
    assert {row.id for row in bank.client.list_documents(bank.id, q="alpha").items} == {"Alpha", "beta"}
    assert bank.client.list_documents(bank.id, q="%").total == 0
    assert bank.client.list_documents(bank.id, limit=0).total == 3


def test_a_body_that_changes_nothing_is_invalid(target, bank):
    bank.store("d", "Alice works at Acme.")
    path = f"/v1/default/banks/{bank.id}/documents/d".encode()
    with pytest.raises(Invalid) as caught:
        bank.client._sender.send("PATCH", path, body={"metadata": {"a": "b"}})
    assert caught.value.status == 422

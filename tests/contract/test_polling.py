"""What looking for new and changed documents relies on."""

import hashlib

from banks.hindsight import NotFound


def test_a_document_that_is_written_again_moves_to_the_top_and_keeps_its_creation(bank):
    for name in ("a", "b", "c"):
        bank.store(name, f"The letter is {name}.")
    before = {row.id: row for row in bank.client.list_documents(bank.id).items}
    bank.store("a", "The letter is still a, they say.")
    rows = bank.client.list_documents(bank.id).items
    assert rows[0].id == "a"
    assert rows[0].created_at == before["a"].created_at
    assert rows[0].updated_at > before["c"].updated_at
    assert [row.updated_at for row in rows] == sorted((row.updated_at for row in rows), reverse=True)


def test_the_hash_in_lists_is_the_sha256_of_the_text_and_tells_a_change(bank):
    text = "Ünïcode stays: 記憶."
    bank.store("a", text)
    digest = hashlib.sha256(text.encode()).hexdigest()
    assert bank.client.list_documents(bank.id).items[0].content_hash == digest
    bank.store("a", text)  # the same text again: the hash stays, whatever the time says
    assert bank.client.list_documents(bank.id).items[0].content_hash == digest
    bank.store("a", text + " And more.")
    assert bank.client.list_documents(bank.id).items[0].content_hash != digest


def test_a_document_that_was_deleted_and_stored_again_has_a_new_creation(bank):
    bank.store("a", "Once.")
    created = bank.client.get_document(bank.id, "a").created_at
    bank.client.delete_document(bank.id, "a")
    bank.store("a", "Once.")
    assert bank.client.get_document(bank.id, "a").created_at > created


def test_whether_a_bank_exists_is_told_by_the_list_of_banks(bank, client):
    assert client.has_bank(bank.id)
    assert not client.has_bank(bank.id[:-1])
    assert not client.has_bank(bank.id + "x")
    client.delete_bank(bank.id)
    assert not client.has_bank(bank.id)
    try:
        client.get_document(bank.id, "a")
    except NotFound:
        assert not client.has_bank(bank.id)  # asking does not make it


def test_nothing_runs_any_more_once_a_delete_has_drained(bank):
    bank.store("a", "Ann met Ben. Ben met Cara.")
    bank.client.delete_document(bank.id, "a")
    bank.quiet()
    assert bank.client.stats(bank.id).pending_operations == 0
    assert bank.client.find_document(bank.id, "a") is None

"""Ids, texts, tags and times that have hurt other people's programs, taken by both servers the same way."""

import json
import uuid
from pathlib import Path

import pytest

from banks.hindsight import HindsightError, Invalid, NotAddressable, RetainItem, is_addressable

INPUTS = Path(__file__).resolve().parents[1] / "data" / "inputs.jsonl"


def inputs(kind):
    lines = [json.loads(line) for line in INPUTS.read_text(encoding="utf-8").split("\n") if line]
    found = [line["value"] for line in lines if line["kind"] == kind]
    assert found, kind
    return found


def _short(value):
    return ascii(value)[:24]


@pytest.mark.parametrize("name", inputs("bank_id"), ids=_short)
def test_banks(client, name):
    name = f"{name}{uuid.uuid4().hex[:6]}"
    if not is_addressable(name):
        assert "/" in name
        with pytest.raises(NotAddressable):
            client.put_bank(name)
        return
    client.put_bank(name)
    assert name in [row.bank_id for row in client.list_banks()]
    client.delete_bank(name)
    assert name not in [row.bank_id for row in client.list_banks()]


@pytest.mark.parametrize("document_id", inputs("document_id"), ids=_short)
def test_documents(bank, document_id):
    if document_id in {".", ".."}:
        with pytest.raises(NotAddressable):
            bank.client.delete_document(bank.id, document_id)
        return
    bank.store(document_id, "Alice likes tea.")
    assert bank.client.get_document(bank.id, document_id).id == document_id
    bank.client.delete_document(bank.id, document_id)
    assert bank.client.find_document(bank.id, document_id) is None


@pytest.mark.parametrize("text", [*inputs("document_text"), *inputs("memory_text")], ids=_short)
def test_texts_come_back_as_they_were(bank, text):
    bank.store("d", text)
    expected = text.replace("\0", "").replace("\ud83d", "\ufffd")
    assert bank.client.get_document(bank.id, "d").text == expected


@pytest.mark.parametrize("tags", [tags for tags in inputs("tags") if isinstance(tags, list)], ids=_short)
def test_tags(bank, tags):
    bank.store("d", "Alice likes tea.", tags=tags)
    assert sorted(bank.client.get_document(bank.id, "d").tags) == sorted(tags)


@pytest.mark.parametrize("metadata", inputs("metadata"), ids=_short)
def test_metadata_is_text_or_refused(bank, metadata):
    if all(isinstance(value, str) for value in metadata.values()):
        bank.store("d", "Alice likes tea.", metadata=metadata)
        assert bank.client.get_document(bank.id, "d").metadata == metadata
    else:
        with pytest.raises(Invalid):
            bank.submit("d", "Alice likes tea.", metadata=metadata)


@pytest.mark.parametrize("context", inputs("context"), ids=_short)
def test_contexts(bank, context):
    bank.store("d", "Alice likes tea.", context=context)
    assert bank.client.get_document(bank.id, "d").retain_params == {"context": context}
    assert bank.client.list_facts(bank.id, document_id="d").items[0].context == context


@pytest.mark.parametrize("when", [each for group in inputs("timestamp") for each in group], ids=_short)
def test_times_are_taken_or_refused(bank, when):
    item = RetainItem("Alice likes tea.", "d", timestamp=when)
    if when in {"2026-02-30T00:00:00Z", "whenever"}:
        with pytest.raises(Invalid):
            bank.client.retain(bank.id, [item], operation_id=uuid.uuid4())
        return
    bank.store("d", "Alice likes tea.", timestamp=when)
    (fact,) = bank.client.list_facts(bank.id, document_id="d").items
    assert (fact.mentioned_at is None) == (when == "unset")
    kept = bank.client.get_document(bank.id, "d").retain_params
    assert ("event_date" in kept) == bool(when)


@pytest.mark.parametrize("fact_id", [each for group in inputs("memory_id") for each in group], ids=_short)
def test_cut_and_made_up_fact_ids_are_never_a_success(bank, fact_id):
    with pytest.raises(HindsightError) as caught:
        bank.client.patch_fact(bank.id, fact_id, state="valid")
    assert caught.value.status in {400, 404}

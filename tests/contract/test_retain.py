"""Storing again, storing twice, storing what fails, and operations."""

import uuid

import pytest

from banks.hindsight import Conflict, Invalid, NotFound, RetainItem
from banks.replay import retain_item, retain_params_of
from tests.contract.conftest import until

TEXT = "Alice works at Acme. Bob likes tea."


def test_a_repeated_operation_id_starts_nothing_even_with_another_text(bank):
    operation_id = uuid.uuid4()
    first = bank.client.retain(bank.id, [RetainItem(TEXT, "d")], operation_id=operation_id)
    assert first.operation_id == str(operation_id)
    bank.wait(first.operation_id)
    again = bank.client.retain(bank.id, [RetainItem("Something else.", "d")], operation_id=operation_id)
    assert again.operation_id == str(operation_id)
    bank.quiet()
    assert bank.client.get_document(bank.id, "d").text == TEXT
    assert bank.client.list_operations(bank.id, type="retain").total == 1


def test_an_operation_id_of_another_bank_is_a_conflict(bank):
    operation_id, other = uuid.uuid4(), f"{bank.id}-other"
    bank.client.put_bank(other)
    bank.client.retain(bank.id, [RetainItem(TEXT, "d")], operation_id=operation_id)
    with pytest.raises(Conflict):
        bank.client.retain(other, [RetainItem(TEXT, "d")], operation_id=operation_id)
    bank.wait(str(operation_id))
    assert bank.client.find_document(other, "d") is None
    bank.client.delete_bank(other)


def test_the_same_text_again_keeps_ids_edits_and_retirements_but_takes_the_new_tags(bank):
    bank.store("d", TEXT, tags=["one"], context="first", metadata={"a": "1"})
    before = bank.client.get_document(bank.id, "d")
    ids = bank.facts("d")
    bank.client.patch_fact(bank.id, ids["Alice works at Acme."], text="Alice works at Globex.")
    bank.client.patch_fact(bank.id, ids["Bob likes tea."], state="invalidated", reason="coffee")
    bank.store("d", TEXT, tags=["two"], context="second")
    assert bank.facts("d") == {"Alice works at Globex.": ids["Alice works at Acme."]}
    assert bank.facts("d", "invalidated") == {"Bob likes tea.": ids["Bob likes tea."]}
    fact = bank.client.get_fact(bank.id, ids["Alice works at Acme."])
    assert (fact.tags, fact.context, fact.metadata) == (["two"], "first", {})
    after = bank.client.get_document(bank.id, "d")
    assert (after.content_hash, after.created_at) == (before.content_hash, before.created_at)
    assert after.updated_at > before.updated_at
    assert after.retain_params == {"context": "second"}


def test_a_changed_text_gives_new_ids_and_forgets_edits_and_retirements(bank):
    bank.store("d", TEXT)
    before, ids = bank.client.get_document(bank.id, "d"), bank.facts("d")
    bank.client.patch_fact(bank.id, ids["Bob likes tea."], state="invalidated", reason="coffee")
    bank.store("d", f"{TEXT} Carol came.")
    after = bank.facts("d")
    assert set(after) == {"Alice works at Acme.", "Bob likes tea.", "Carol came."}
    assert not set(after.values()) & set(ids.values())
    assert bank.facts("d", "invalidated") == {}
    for call in (bank.client.get_fact, lambda b, f: bank.client.patch_fact(b, f, state="valid")):
        with pytest.raises(NotFound) as caught:
            call(bank.id, ids["Bob likes tea."])
        assert caught.value.what == "fact"
    document = bank.client.get_document(bank.id, "d")
    assert document.created_at == before.created_at
    assert document.updated_at > before.updated_at


def test_only_the_changed_part_of_a_long_text_gets_new_ids(bank):
    lines = [f"Line {number} of the journal says that Kronos waited." for number in range(150)]
    bank.store("long", "\n".join(lines))
    ids = bank.facts("long")
    bank.client.patch_fact(bank.id, ids[lines[0]], state="invalidated", reason="no")
    bank.store("long", "\n".join([*lines, "Sam found the cause."]))
    after = bank.facts("long")
    assert "Sam found the cause." in after
    assert bank.facts("long", "invalidated") == {lines[0]: ids[lines[0]]}
    assert after[lines[1]] == ids[lines[1]]
    assert after[lines[-1]] != ids[lines[-1]]


def test_stored_again_after_a_delete_it_is_a_new_document(bank):
    bank.store("d", TEXT)
    before, ids = bank.client.get_document(bank.id, "d"), bank.facts("d")
    bank.client.delete_document(bank.id, "d")
    bank.store("d", TEXT)
    after = bank.client.get_document(bank.id, "d")
    assert after.content_hash == before.content_hash
    assert after.created_at > before.created_at
    assert not set(bank.facts("d").values()) & set(ids.values())


def test_an_append_keeps_what_is_there(bank):
    bank.store("d", TEXT)
    ids = bank.facts("d")
    bank.store("d", "Carol came.", update_mode="append")
    assert bank.client.get_document(bank.id, "d").text == f"{TEXT}\nCarol came."
    after = bank.facts("d")
    assert {text: after[text] for text in ids} == ids


def test_a_delete_during_a_running_retain_brings_the_document_back(bank):
    bank.store("d", "Alice works at Acme.")
    operation_id = bank.submit("d", "[[SLOW:1]] Alice left Acme.")
    children = until(
        lambda: bank.client.list_operations(bank.id, type="retain"), lambda page: page.items[0].status == "processing"
    )
    assert children.items[0].document_id == "d"
    bank.client.delete_document(bank.id, "d")
    assert bank.client.find_document(bank.id, "d") is None
    assert bank.wait(operation_id).status == "completed"
    assert bank.client.find_document(bank.id, "d") is not None


def test_a_finished_retain_has_a_parent_and_a_child(bank):
    done = bank.store("d", TEXT)
    assert (done.type, done.terminal, done.document_id) == ("batch_retain", True, "d")
    (child,) = done.children
    assert (child.status, child.items, child.error) == ("completed", 1, "")
    row = bank.client.get_operation(bank.id, child.id)
    assert (row.type, row.children) == ("retain", [])
    assert [each.id for each in bank.client.list_operations(bank.id, type="retain").items] == [child.id]
    everything = bank.client.list_operations(bank.id, exclude_parents=False)
    assert {done.id, child.id} <= {each.id for each in everything.items}


def test_a_batch_stores_every_item_under_its_id(bank):
    items = [RetainItem(f"Item {number} is here.", f"k{number}") for number in range(4)]
    done = bank.wait(bank.client.retain(bank.id, items, operation_id=uuid.uuid4()).operation_id)
    assert sum(child.items for child in done.children) == 4
    assert {row.id for row in bank.client.list_documents(bank.id).items} == {f"k{number}" for number in range(4)}


def test_a_failing_retain_waits_tries_again_fails_and_leaves_the_old_document(bank):
    bank.store("d", TEXT)
    ids = bank.facts("d")
    operation_id = bank.submit("d", "[[FAIL]] Alice left.")
    waiting = until(lambda: bank.client.list_operations(bank.id, type="retain").items[0], lambda row: bool(row.error))
    assert waiting.status in {"retrying", "failed", "processing"}
    done = bank.wait(operation_id)
    assert done.status == "failed"
    assert done.failed
    assert "forced failure" in done.children[0].error  # the parent's own error comes later, or not at all
    assert bank.client.get_operation(bank.id, done.children[0].id).retry_count == 3
    assert bank.client.get_document(bank.id, "d").text == TEXT
    assert bank.facts("d") == ids
    assert bank.client.stats(bank.id).failed_operations == 2
    assert bank.client.list_operations(bank.id, status="failed").total == 1
    bank.client.retry_operation(bank.id, operation_id)
    assert not bank.client.get_operation(bank.id, operation_id).terminal
    bank.client.cancel_operation(bank.id, done.children[0].id)


def test_a_retain_that_fails_at_first_is_completed_later(bank):
    operation_id = bank.submit("d", f"[[FAILN:1:k{uuid.uuid4().hex[:8]}]] Alice came.")
    assert bank.wait(operation_id).status == "completed"
    assert bank.client.get_document(bank.id, "d").fact_count == 1


def test_an_unknown_operation_is_a_status_and_not_an_error(bank):
    operation = bank.client.get_operation(bank.id, str(uuid.uuid4()))
    assert operation.not_found
    assert not operation.terminal
    assert operation.status == "not_found"


def test_what_is_not_an_operation_id_is_invalid(bank):
    with pytest.raises(Invalid) as caught:
        bank.client.get_operation(bank.id, "nope")
    assert caught.value.status == 400


def test_a_finished_operation_can_neither_be_cancelled_nor_retried(bank):
    done = bank.store("d", TEXT)
    for call in (bank.client.cancel_operation, bank.client.retry_operation):
        with pytest.raises(Conflict):
            call(bank.id, done.id)
        with pytest.raises(NotFound) as caught:
            call(bank.id, str(uuid.uuid4()))
        assert caught.value.what == "operation"


def test_cancelling_the_parent_does_not_stop_the_work(bank):
    operation_id = bank.submit("d", "[[SLOW:1]] Alice works at Acme.")
    bank.client.cancel_operation(bank.id, operation_id)
    operation = bank.client.get_operation(bank.id, operation_id)
    assert operation.raw_status == "cancelled"
    assert not operation.terminal  # its child goes on
    assert bank.wait(operation_id).children[0].status == "completed"
    assert bank.client.find_document(bank.id, "d") is not None


def test_unknown_statuses_and_types_list_nothing(bank):
    bank.store("d", TEXT)
    assert bank.client.list_operations(bank.id, status="bogus").total == 0
    assert bank.client.list_operations(bank.id, type="bogus").total == 0


@pytest.mark.parametrize(
    "item",
    [
        {"content": "   "},
        {"content": ""},
        {},
        {"content": "x", "timestamp": "yesterday"},
        {"content": "x", "update_mode": "merge"},
        {"content": "x", "metadata": {"a": 1}},
    ],
)
def test_what_cannot_be_stored_is_invalid_and_stores_nothing(bank, item):
    path = f"/v1/default/banks/{bank.id}/memories".encode()
    with pytest.raises(Invalid) as caught:
        bank.client._sender.send("POST", path, body={"items": [item | {"document_id": "d"}], "async": True})
    assert caught.value.status == 422
    assert bank.client.find_document(bank.id, "d") is None


def test_a_document_twice_in_one_batch_is_invalid(bank):
    path = f"/v1/default/banks/{bank.id}/memories".encode()
    items = [{"content": "One.", "document_id": "d"}, {"content": "Two.", "document_id": "d"}]
    with pytest.raises(Invalid) as caught:
        bank.client._sender.send("POST", path, body={"items": items, "async": True})
    assert caught.value.status == 400


def test_a_bad_operation_id_is_invalid(bank):
    path = f"/v1/default/banks/{bank.id}/memories".encode()
    body = {"items": [{"content": "One.", "document_id": "d"}], "async": True, "operation_id": "not-a-uuid"}
    with pytest.raises(Invalid):
        bank.client._sender.send("POST", path, body=body)


def test_a_retain_at_once_answers_when_it_is_stored(bank):
    path = f"/v1/default/banks/{bank.id}/memories".encode()
    answer = bank.client._sender.send(
        "POST", path, body={"items": [{"content": TEXT, "document_id": "d", "colour": 1}], "x": 1}
    )
    assert answer.data["operation_id"] is None
    assert answer.ignored_params == ("x",)
    assert bank.client.get_document(bank.id, "d").fact_count == 2


EVERYTHING = {
    "timestamp": "2026-02-01T10:00:00+02:00",
    "context": "notes",
    "metadata": {"author": "Zed", "session_id": "s-1"},
    "tags": ["b", "a"],
    "entities": [{"text": "Globex Corp", "type": "ORG"}],
    "resolve_entities": False,
    "observation_scopes": [["a"], ["b"]],
    "strategy": "careful",
}


@pytest.mark.parametrize("name", ["everything", "nothing", "no time"])
def test_a_document_stored_again_with_its_own_parameters_has_the_same_parameters(bank, name):
    given = {"everything": EVERYTHING, "nothing": {}, "no time": {"timestamp": "unset"}}[name]
    bank.store("d", TEXT, **given)
    before = bank.client.get_document(bank.id, "d")
    again = retain_item(document_id="d", text=f"{TEXT} Carol came.", params=retain_params_of(before))
    bank.wait(bank.client.retain(bank.id, [again], operation_id=uuid.uuid4()).operation_id)
    after = bank.client.get_document(bank.id, "d")
    assert after.text.endswith("Carol came.")
    dated = {} if given else {"event_date": before.created_at.isoformat()}  # else its facts would move to today
    assert after.retain_params == before.retain_params | dated
    assert (after.metadata, sorted(after.tags)) == (before.metadata, sorted(before.tags))
    assert after.observation_scopes == before.observation_scopes


def test_the_server_keeps_every_parameter(bank):
    bank.store("d", TEXT, **EVERYTHING)
    document = bank.client.get_document(bank.id, "d")
    assert sorted(document.tags) == ["a", "b"]
    expected = {key: value for key, value in EVERYTHING.items() if key not in {"tags", "timestamp"}}
    assert document.retain_params == expected | {"event_date": EVERYTHING["timestamp"]}
    (first,) = [fact for fact in bank.client.list_facts(bank.id).items if fact.text.startswith("Alice works")][:1]
    assert "Globex Corp" in first.entities

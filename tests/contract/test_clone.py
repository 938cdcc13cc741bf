"""A bank that is made from another one."""

import uuid

import pytest

from banks.hindsight import Invalid, NotFound
from tests.contract.conftest import until


def test_a_clone_has_texts_facts_and_retirements_and_goes_its_own_way(bank):
    bank.store("d", "Alice works at Acme. Bob works at Globex.", tags=["t"])
    bank.quiet()
    facts = bank.facts("d")
    bank.client.patch_fact(bank.id, facts["Alice works at Acme."], state="invalidated", reason="left")
    bank.client.create_directive(bank.id, {"name": "n", "content": "c"})
    target = f"clone-{uuid.uuid4().hex[:8]}"
    operation = bank.client.clone_bank(bank.id, target, config=False)
    done = bank.wait(operation)
    assert (done.type, done.status) == ("clone_bank", "completed")
    assert bank.client.has_bank(target)
    found = bank.client.get_document(target, "d")
    assert (found.text, found.tags) == (bank.client.get_document(bank.id, "d").text, ["t"])
    live = {fact.text for fact in bank.client.list_facts(target, type="world").items}
    assert live == {"Bob works at Globex."}
    retired = bank.client.list_facts(target, state="invalidated").items
    assert [(fact.text, fact.invalidation_reason) for fact in retired] == [("Alice works at Acme.", "left")]
    assert bank.client.list_directives(target).items == []
    assert retired[0].id != facts["Alice works at Acme."]
    with pytest.raises(Invalid):
        bank.client.clone_bank(bank.id, target, config=True)
    until(lambda: bank.client.delete_bank(target), lambda _: not bank.client.has_bank(target))
    assert bank.client.has_bank(bank.id)


def test_what_cannot_be_cloned_is_refused_and_makes_nothing(bank):
    with pytest.raises(Invalid):
        bank.client.clone_bank(bank.id, bank.id, config=False)
    never = f"never-{uuid.uuid4().hex}"
    with pytest.raises(NotFound) as caught:
        bank.client.clone_bank(never, f"{never}-2", config=False)
    assert caught.value.what == "bank"
    assert not bank.client.has_bank(f"{never}-2")

"""What is made of facts: observations with their sources, mental models with what they rest on."""

import uuid

import httpx
import pytest

from banks.hindsight import Invalid, NotFound
from tests.contract.conftest import Bank, Target, until
from tests.hindsight.runner import KEY


@pytest.fixture
def facts(bank):
    bank.store("d", "Alice works at Acme. Alice joined Globex. We like tea.")
    bank.quiet()
    return bank.facts("d")


def make_model(target: Target, bank: Bank, model_id: str, query: str) -> None:
    """Past the client: the product makes none yet."""
    headers = {"authorization": f"Bearer {KEY}"}
    with httpx.Client(base_url=target.url, transport=target.transport, headers=headers, timeout=30) as http:
        body = {"id": model_id, "name": f"Model {model_id}", "source_query": query}
        answer = http.post(f"/v1/default/banks/{bank.id}/mental-models", json=body)
        assert answer.status_code == 200, answer.text
    bank.quiet()


def observations(bank):
    return [fact for fact in bank.client.list_facts(bank.id, type="observation").items if len(fact.source_fact_ids) > 1]


def test_a_list_of_one_type_has_no_other(bank, facts):
    until(lambda: observations(bank), bool)
    for kind, number in (("world", 2), ("experience", 1)):
        page = bank.client.list_facts(bank.id, type=kind)
        assert [fact.type for fact in page.items] == [kind] * number
        assert page.total == number
    assert all(fact.is_observation for fact in bank.client.list_facts(bank.id, type="observation").items)
    assert bank.client.list_facts(bank.id, type="rumour").total == 0


def test_an_observation_names_its_sources_with_their_texts(bank, facts):
    found = until(lambda: observations(bank), bool)[0]
    sources = bank.client.sources_of(bank.id, found.id)
    assert {source.id for source in sources} == set(found.source_fact_ids)
    assert {source.text for source in sources} <= set(facts)
    assert {source.type for source in sources} == {"world"}
    assert bank.client.sources_of(bank.id, facts["We like tea."]) == []
    with pytest.raises(NotFound):
        bank.client.sources_of(bank.id, str(uuid.uuid4()))


def test_a_mental_model_names_what_it_rests_on(target, bank, facts):
    until(lambda: observations(bank), bool)
    make_model(target, bank, "m1", "What is known about Alice, Acme and Globex?")
    made = until(
        lambda: bank.client.list_mental_models(bank.id, detail="full").items, lambda rows: rows and rows[0].based_on
    )
    assert [(model.id, model.name) for model in made] == [("m1", "Model m1")]
    known = {fact.id for fact in bank.client.list_facts(bank.id).items}
    assert made[0].based_on <= known
    assert made[0].based_on & set(facts.values())


def test_lists_of_mental_models_are_paged(target, bank, facts):
    for number in range(3):
        make_model(target, bank, f"m{number}", "Alice")
    first, second = (bank.client.list_mental_models(bank.id, limit=2, offset=offset) for offset in (0, 2))
    assert (first.total, len(first.items), len(second.items)) == (3, 2, 1)
    assert {model.id for model in [*first.items, *second.items]} == {"m0", "m1", "m2"}
    with pytest.raises(Invalid):
        bank.client.list_mental_models(bank.id, limit=0)
    with pytest.raises(NotFound) as caught:
        bank.client.list_mental_models(f"never-{uuid.uuid4().hex}")
    assert caught.value.what == "bank"

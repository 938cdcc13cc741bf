"""Facts: listed, edited, retired, restored; and what cannot be curated."""

import uuid
from datetime import UTC, datetime

import pytest

from banks.hindsight import Invalid, NotFound
from tests.contract.conftest import until

TEXT = "Alice works at Acme. Alice joined Globex on 2024-05-01. We like tea."


@pytest.fixture
def facts(bank):
    bank.store("d", TEXT, tags=["t"], context="notes", timestamp="2026-02-01T08:00:00+00:00", metadata={"k": "v"})
    bank.quiet()
    return bank.facts("d")


def test_list_and_detail_give_the_same_fact(bank, facts):
    listed = {fact.id: fact for fact in bank.client.list_facts(bank.id, document_id="d").items}
    assert len(listed) == 3
    for fact_id, row in listed.items():
        one = bank.client.get_fact(bank.id, fact_id)
        for name in [
            "text",
            "type",
            "state",
            "document_id",
            "chunk_id",
            "tags",
            "metadata",
            "context",
            "mentioned_at",
            "occurred_start",
            "edited_at",
        ]:
            assert getattr(one, name) == getattr(row, name), name
        assert set(one.entities) == set(row.entities)
    first = listed[facts["Alice works at Acme."]]
    assert (first.type, first.state, first.context, first.tags) == ("world", "valid", "notes", ["t"])
    assert first.mentioned_at == datetime(2026, 2, 1, 8, tzinfo=UTC)
    assert first.chunk_id == f"{bank.id}_d_0"
    assert set(first.entities) == {"Alice", "Acme"}
    assert first.proof_count == 1


def test_facts_keep_their_order_in_time_and_know_dates_and_first_persons(bank, facts):
    rows = bank.client.list_facts(bank.id, document_id="d").items
    assert [row.mentioned_at for row in rows] == sorted((row.mentioned_at for row in rows), reverse=True)
    assert rows[-1].text == "Alice works at Acme."
    assert rows[0].type == "experience"
    assert rows[1].occurred_start.date() == datetime(2024, 5, 1, tzinfo=UTC).date()


def test_tags_entities_and_days_narrow_a_list(bank, facts):
    bank.store("e", "Bob works at Globex.", tags=["t", "u"], timestamp="2026-03-01T08:00:00+00:00")
    bank.store("f", "Carl works at Initech.")
    bank.quiet()

    def texts(**asked):
        found = bank.client.list_facts(bank.id, type="world", **asked).items
        return {fact.text.partition(" | ")[0] for fact in found}  # the real one says behind it when that was

    assert texts(tags=["u"]) == {"Bob works at Globex."}
    assert texts(tags=["t", "u"]) == {"Bob works at Globex."}
    assert len(texts(tags=["t"])) == 3
    day, march = datetime(2026, 2, 2, tzinfo=UTC), datetime(2026, 3, 1, 8, tzinfo=UTC)
    assert len(texts(mentioned_before=day)) == 2
    assert texts(mentioned_from=march, mentioned_before=datetime(2026, 3, 2, tzinfo=UTC)) == {"Bob works at Globex."}
    assert texts(mentioned_from=day, mentioned_before=march) == set()
    named = {each.name: each.id for each in bank.client.list_entities(bank.id).items}
    assert texts(entity_id=named["Globex"]) == {"Alice joined Globex on 2024-05-01.", "Bob works at Globex."}
    with pytest.raises(Invalid):
        bank.client.list_facts(bank.id, mentioned_from=march, mentioned_before=day)


def test_lists_show_one_state_and_count_exactly(bank, facts):
    bank.client.patch_fact(bank.id, facts["Alice works at Acme."], state="invalidated", reason="left")
    assert len(bank.facts("d")) == 2
    assert set(bank.facts("d", "invalidated")) == {"Alice works at Acme."}
    assert bank.client.count_facts(bank.id, state="invalidated") == 1
    assert bank.client.list_facts(bank.id, document_id="d", limit=1).total == 2
    assert bank.client.list_facts(bank.id, document_id="d", limit=1, offset=5).items == []
    assert bank.client.list_facts(bank.id, document_id="nope").total == 0
    with pytest.raises(Invalid) as caught:
        bank.client.list_facts(bank.id, state="all")
    assert caught.value.status == 400


def test_search_looks_into_text_and_context(bank, facts):
    def found(q, state="valid"):
        page = bank.client.list_facts(bank.id, document_id="d", q=q, state=state)
        return {fact.text.split(" |")[0] for fact in page.items}

    assert found("ACME") == {"Alice works at Acme."}
    assert len(found("notes")) == 3
    assert found("acme tea") == set()
    assert len(found("%")) == 3
    bank.client.patch_fact(bank.id, facts["Alice works at Acme."], state="invalidated")
    assert found("acme") == set()
    assert found("acme", "invalidated") == {"Alice works at Acme."}


def test_retiring_keeps_the_fact_with_its_reason_and_restoring_brings_it_back(bank, facts):
    fact_id = facts["Alice works at Acme."]
    retired = bank.client.patch_fact(bank.id, fact_id, state="invalidated", reason="she left")
    assert (retired.state, retired.invalidation_reason, retired.entities) == ("invalidated", "she left", [])
    assert bank.client.get_fact(bank.id, fact_id).is_retired
    again = bank.client.patch_fact(bank.id, fact_id, state="invalidated", reason="she left in May")
    assert (again.invalidation_reason, again.invalidated_at) == ("she left in May", retired.invalidated_at)
    assert bank.client.patch_fact(bank.id, fact_id, state="invalidated").invalidation_reason == "she left in May"
    restored = bank.client.patch_fact(bank.id, fact_id, state="valid")
    assert (restored.id, restored.state, restored.invalidated_at, restored.invalidation_reason) == (
        fact_id,
        "valid",
        None,
        "",
    )
    # A name that no other fact holds can be swept away while the fact is retired: not all entities need come back.
    assert {"Alice"} <= set(restored.entities) <= {"Alice", "Acme"}
    assert bank.client.patch_fact(bank.id, fact_id, state="valid").state == "valid"


def test_an_edit_changes_the_text_as_given(bank, facts):
    fact_id = facts["Alice works at Acme."]
    edited = bank.client.patch_fact(bank.id, fact_id, text="  Alice runs Acme. \n")
    assert (edited.id, edited.text) == (fact_id, "  Alice runs Acme. \n")
    assert edited.edited_at is not None
    assert bank.client.get_fact(bank.id, fact_id).text == edited.text
    same = bank.client.patch_fact(bank.id, fact_id, text="  Alice runs Acme. \n")
    assert same.edited_at > edited.edited_at  # the same text counts as an edit


def test_edit_and_retire_go_together(bank, facts):
    both = bank.client.patch_fact(
        bank.id, facts["Alice works at Acme."], text="Alice worked at Acme.", state="invalidated"
    )
    assert (both.text, both.state) == ("Alice worked at Acme.", "invalidated")


def test_a_retired_fact_cannot_be_edited_even_when_restored_in_the_same_call(bank, facts):
    fact_id = facts["Alice works at Acme."]
    bank.client.patch_fact(bank.id, fact_id, state="invalidated")
    for extra in ({}, {"state": "valid"}):
        with pytest.raises(Invalid) as caught:
            bank.client.patch_fact(bank.id, fact_id, text="New.", **extra)
        assert caught.value.status == 400
    assert bank.client.get_fact(bank.id, fact_id).is_retired


@pytest.mark.parametrize(
    ("body", "status"),
    [({"text": ""}, 400), ({"text": "  "}, 400), ({"state": "gone"}, 422), ({"reason": "why"}, 422), ({}, 422)],
)
def test_empty_and_wrong_changes_are_invalid(bank, facts, body, status):
    with pytest.raises(Invalid) as caught:
        bank.client.patch_fact(bank.id, facts["Alice works at Acme."], **body)
    assert caught.value.status == status


def test_an_observation_cannot_be_curated(bank, facts):
    def observations():
        return [fact for fact in bank.client.list_facts(bank.id).items if fact.is_observation]

    observation = next(each for each in until(observations, bool) if len(each.source_fact_ids) >= 2)
    assert (observation.document_id, observation.chunk_id) == ("", "")
    assert set(observation.source_fact_ids) <= set(facts.values())
    assert bank.client.get_fact(bank.id, observation.id).is_observation
    for change in ({"text": "No."}, {"state": "invalidated", "reason": "no"}):
        with pytest.raises(Invalid) as caught:
            bank.client.patch_fact(bank.id, observation.id, **change)
        assert caught.value.status == 400
        assert "observation" in caught.value.detail


def test_an_edited_fact_drops_the_observations_made_of_it(bank, facts):
    def observations():
        return {fact.id for fact in bank.client.list_facts(bank.id).items if len(fact.source_fact_ids) >= 2}

    old = until(observations, bool)
    bank.client.patch_fact(bank.id, facts["Alice works at Acme."], text="Alice runs Acme.")
    bank.quiet()
    assert not observations() & old


def test_unknown_and_foreign_facts_are_missing_and_bad_ids_invalid(bank, facts):
    other = f"{bank.id}-other"
    bank.client.put_bank(other)
    fact_id = facts["Alice works at Acme."]
    for where, which in ((bank.id, str(uuid.uuid4())), (other, fact_id), (f"never-{uuid.uuid4().hex}", fact_id)):
        for call in (bank.client.get_fact, lambda b, f: bank.client.patch_fact(b, f, state="invalidated")):
            with pytest.raises(NotFound) as caught:
                call(where, which)
            assert caught.value.what == "fact"
    with pytest.raises(Invalid):
        bank.client.get_fact(bank.id, "not-a-uuid")
    bank.client.delete_bank(other)


def test_very_long_reasons_and_texts_are_taken(bank, facts):
    fact_id = facts["Alice works at Acme."]
    assert len(bank.client.patch_fact(bank.id, fact_id, text="é" * 50_000).text) == 50_000
    reason = "because " * 2_500
    assert bank.client.patch_fact(bank.id, fact_id, state="invalidated", reason=reason).invalidation_reason == reason

"""Mental models: made, read, written anew, tried, changed, deleted; and what cannot be done to them."""

import uuid

import pytest

from banks.hindsight import Conflict, NotAddressable, NotFound
from tests.contract.conftest import until

QUERY = "What is known about Alice, Acme and Globex?"
TEXT = "Alice works at Acme. Alice joined Globex."


@pytest.fixture
def model(bank):
    """`m1`, with its text."""
    bank.store("d", TEXT)
    bank.quiet()
    made = bank.client.create_mental_model(
        bank.id,
        "m1",
        name="What we know",
        source_query=QUERY,
        max_tokens=512,
        trigger={"mode": "full", "refresh_after_consolidation": False},
    )
    assert made.model_id == "m1"
    assert bank.wait(made.operation_id).status == "completed"
    return bank.client.get_mental_model(bank.id, "m1", detail="full")


def test_a_model_is_as_it_was_asked_for_and_has_a_text(bank, model):
    assert (model.id, model.name, model.source_query, model.max_tokens) == ("m1", "What we know", QUERY, 512)
    assert model.trigger["refresh_after_consolidation"] is False
    assert "Alice" in (model.content or "")
    assert model.refreshed_at is not None
    assert model.evidence
    assert {each.type for each in model.evidence} <= {"world", "experience", "observation", "mental-models"}


def test_lists_are_light_unless_more_is_asked_for(bank, model):
    (light,) = bank.client.all_mental_models(bank.id)
    assert (light.id, light.content, light.source_query, light.trigger) == ("m1", None, None, None)
    assert isinstance(light.stale, bool)
    (whole,) = bank.client.all_mental_models(bank.id, detail="content")
    assert (whole.content, whole.source_query) == (model.content, QUERY)


def test_an_id_that_exists_is_a_conflict_and_nothing_changes(bank, model):
    with pytest.raises(Conflict):
        bank.client.create_mental_model(bank.id, "m1", name="Other", source_query="Another?")
    assert bank.client.get_mental_model(bank.id, "m1").name == "What we know"


def test_a_tagged_model_reads_only_what_has_all_its_tags(bank):
    bank.store("a", "Alice works at Acme.", tags=["project:a"])
    bank.store("b", "Alice joined Globex.", tags=["project:b"])
    bank.quiet()
    made = bank.client.create_mental_model(
        bank.id, "conventions-a", name="Conventions", source_query=QUERY, tags=["project:a"]
    )
    bank.wait(made.operation_id)
    found = bank.client.get_mental_model(bank.id, "conventions-a", detail="full")
    assert found.tags == ["project:a"]
    assert "Globex" not in " ".join(each.text for each in found.evidence or ())


def test_a_refresh_is_an_operation_of_the_model_and_leaves_a_version(bank, model):
    bank.store("e", "Alice moved to Initech with Acme.")
    bank.quiet()
    done = bank.wait(bank.client.refresh_mental_model(bank.id, "m1"))
    assert (done.status, done.type, done.model_id) == ("completed", "refresh_mental_model", "m1")
    newest, *_, first = bank.client.mental_model_history(bank.id, "m1")
    assert newest.before == model.content
    assert (newest.failed, first.before) == (False, None)
    assert newest.evidence
    assert newest.at >= first.at


def test_a_refresh_that_finds_nothing_leaves_the_text_and_no_version(bank, model):
    bank.client.delete_document(bank.id, "d")
    bank.quiet()
    assert bank.wait(bank.client.refresh_mental_model(bank.id, "m1")).status == "completed"
    after = bank.client.get_mental_model(bank.id, "m1", detail="full")
    assert (after.content, after.evidence) == (model.content, ())
    assert after.refreshed_at > model.refreshed_at
    assert len(bank.client.mental_model_history(bank.id, "m1")) == 1


def test_a_trial_changes_nothing(bank, model):
    bank.store("e", "Alice moved to Initech with Acme.")
    bank.quiet()
    trial = bank.client.try_refresh(bank.id, "m1")
    assert trial.outcome
    assert trial.mode == "full"
    assert trial.after
    now = bank.client.get_mental_model(bank.id, "m1")
    assert (now.content, now.refreshed_at) == (model.content, model.refreshed_at)


def test_of_a_trigger_only_what_is_given_changes_and_a_text_cannot_be_set(bank, model):
    changed = bank.client.patch_mental_model(bank.id, "m1", {"trigger": {"refresh_after_consolidation": True}})
    assert (changed.trigger["refresh_after_consolidation"], changed.trigger["mode"]) == (True, "full")
    again = bank.client.patch_mental_model(bank.id, "m1", {"name": "Known", "content": "Set by hand."})
    assert (again.name, again.content) == ("Known", model.content)


def test_a_deleted_model_is_gone_and_its_id_is_free(bank, model):
    bank.client.delete_mental_model(bank.id, "m1")
    for call in (
        bank.client.get_mental_model,
        bank.client.delete_mental_model,
        bank.client.refresh_mental_model,
        bank.client.mental_model_history,
        bank.client.try_refresh,
    ):
        with pytest.raises(NotFound) as caught:
            call(bank.id, "m1")
        assert caught.value.what == "model"
    bank.client.create_mental_model(bank.id, "m1", name="Again", source_query=QUERY)
    found = until(lambda: bank.client.get_mental_model(bank.id, "m1"), lambda each: each.content)
    assert found.name == "Again"


def test_creating_in_an_unknown_bank_creates_the_bank(bank):
    """Which is why nothing of ours calls it without having seen the bank in the list."""
    stray = f"stray-{uuid.uuid4().hex[:12]}"
    bank.client.create_mental_model(stray, "m1", name="M", source_query=QUERY)
    assert bank.client.has_bank(stray)
    bank.client.delete_bank(stray)


@pytest.mark.parametrize("model_id", ["", ".", "..", "a/b", "m1/refresh", "a\0b"])
def test_ids_that_reach_other_routes_are_refused_before_any_call(bank, model_id):
    for call in (bank.client.get_mental_model, bank.client.delete_mental_model, bank.client.refresh_mental_model):
        with pytest.raises(NotAddressable):
            call(bank.id, model_id)
    with pytest.raises(NotAddressable):
        bank.client.create_mental_model(bank.id, model_id, name="M", source_query=QUERY)

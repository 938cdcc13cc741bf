"""Deleting, putting back and pinning mental models: what is kept, what is confirmed, and what is left alone."""

import pytest

from banks import connections, making_kinds, selectors_models
from banks.mental import acts
from banks.mental.looking import seen_of
from banks.models import Bank, ModelPin, Write
from banks.services.refusal import ChangedMeanwhile, Refusal
from banks.writes import worker
from tests.banks.conftest import LyingTransport, store
from tests.banks.mental import AUTOMATIC, history_in, make_model, models_in, work
from tests.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)
State = Write.State


def shown(bank: Bank, model_id: str = "m1") -> str:
    row = selectors_models.read(bank, model_id).row
    assert row is not None
    return seen_of(row.model)


def after(write: Write) -> Write:
    work(write.bank)
    write.refresh_from_db()
    return write


def test_a_delete_keeps_everything_and_is_confirmed(bank: Bank, line: LyingTransport, people: People) -> None:
    store(bank, "notes/b.md", "Cleo keeps the ledger.", tags=["team:core"])
    model = make_model(bank, tags=["team:core"], max_tokens=700, trigger=AUTOMATIC)
    write = after(acts.delete(user=people.owner, bank=bank, model_id="m1", seen=shown(bank)))
    assert write.state == State.DONE
    assert models_in(bank) == {}
    assert write.before is not None
    assert write.before.text == model.content
    assert (write.params["question"], write.params["tags"]) == (model.source_query, ["team:core"])


def test_what_was_deleted_is_put_back_under_its_id_with_a_new_text(
    bank: Bank, line: LyingTransport, people: People
) -> None:
    model = make_model(bank, tags=["team:core"], max_tokens=700, trigger=AUTOMATIC)
    deleted = after(acts.delete(user=people.owner, bank=bank, model_id="m1", seen=shown(bank)))
    write = acts.put_back(user=people.owner, write=deleted)
    assert acts.put_back(user=people.owner, write=deleted) == write  # a second click
    assert after(write).state == State.DONE
    found = models_in(bank)["m1"]
    same = ("id", "name", "source_query", "tags", "max_tokens")
    assert [getattr(found, name) for name in same] == [getattr(model, name) for name in same]
    assert (found.trigger or {})["refresh_after_consolidation"] is True


def test_a_model_that_took_the_id_since_is_not_touched(bank: Bank, line: LyingTransport, people: People) -> None:
    make_model(bank)
    deleted = after(acts.delete(user=people.owner, bank=bank, model_id="m1", seen=shown(bank)))
    make_model(bank, name="Theirs")
    write = after(acts.put_back(user=people.owner, write=deleted))
    assert (write.state, write.error_text) == (State.CHANGED, making_kinds.TAKEN)
    assert models_in(bank)["m1"].name == "Theirs"


def test_what_changed_since_it_was_on_screen_is_not_deleted(bank: Bank, line: LyingTransport, people: People) -> None:
    make_model(bank)
    seen = shown(bank)
    write = acts.delete(user=people.owner, bank=bank, model_id="m1", seen=seen)
    with connections.client_for(bank.server) as client:
        client.patch_mental_model(bank.bank_id, "m1", {"name": "Another"})
    assert after(write).state == State.CHANGED
    assert "m1" in models_in(bank)
    with pytest.raises(ChangedMeanwhile):
        acts.delete(user=people.owner, bank=bank, model_id="m1", seen=seen)


def test_a_lost_answer_to_a_delete_is_read_back(bank: Bank, line: LyingTransport, people: People) -> None:
    make_model(bank)
    line.cut_after.append("DELETE")
    write = acts.delete(user=people.owner, bank=bank, model_id="m1", seen=shown(bank))
    assert worker.run(write.pk) == "unknown"
    assert after(write).state == State.DONE
    assert line.sent("DELETE") == 1


def test_a_pin_keeps_the_text_and_stops_the_servers_refreshes(bank: Bank, line: LyingTransport, people: People) -> None:
    model = make_model(bank, trigger=AUTOMATIC)
    write = after(acts.pin(user=people.owner, bank=bank, model_id="m1", seen=shown(bank)))
    assert write.state == State.DONE
    assert acts.texts_of(bank) == {"m1": model.content}
    assert (models_in(bank)["m1"].trigger or {})["refresh_after_consolidation"] is False
    with pytest.raises(Refusal):
        acts.pin(user=people.owner, bank=bank, model_id="m1", seen=shown(bank))
    after(acts.unpin(user=people.owner, bank=bank, model_id="m1"))
    assert acts.texts_of(bank) == {}
    assert (models_in(bank)["m1"].trigger or {})["refresh_after_consolidation"] is True
    with pytest.raises(Refusal):
        acts.unpin(user=people.owner, bank=bank, model_id="m1")


def test_a_model_that_nothing_refreshes_is_pinned_without_a_call(
    bank: Bank, line: LyingTransport, people: People
) -> None:
    make_model(bank)
    after(acts.pin(user=people.owner, bank=bank, model_id="m1", seen=shown(bank)))
    after(acts.unpin(user=people.owner, bank=bank, model_id="m1"))
    assert line.sent("PATCH") == 0


def test_an_earlier_text_is_restored_by_pinning_it(bank: Bank, line: LyingTransport, people: People) -> None:
    first = make_model(bank)
    store(bank, "notes/b.md", "Cleo audits the ledger.")
    after(acts.refresh(user=people.reviewer, bank=bank, model_id="m1"))
    version = history_in(bank)[0]
    assert version.before == first.content
    after(acts.pin(user=people.owner, bank=bank, model_id="m1", version=ModelPin.hash_of(version.before or "")))
    pin = ModelPin.objects.get()
    assert (pin.text.text, pin.version_at, pin.user) == (first.content, version.at, people.owner)
    assert "Cleo" in (models_in(bank)["m1"].content or "")  # servers take no text
    with pytest.raises(Refusal):
        acts.pin(user=people.owner, bank=bank, model_id="m1", version="0" * 64)


def test_an_earlier_text_takes_the_place_of_a_pinned_one(bank: Bank, line: LyingTransport, people: People) -> None:
    """And the last unpin still gives back what the first pin stopped."""
    first = make_model(bank, trigger=AUTOMATIC)
    store(bank, "notes/b.md", "Cleo audits the ledger.")
    after(acts.refresh(user=people.reviewer, bank=bank, model_id="m1"))
    after(acts.pin(user=people.owner, bank=bank, model_id="m1", seen=shown(bank)))
    assert acts.texts_of(bank) != {"m1": first.content}
    after(acts.pin(user=people.owner, bank=bank, model_id="m1", version=ModelPin.hash_of(first.content or "")))
    assert acts.texts_of(bank) == {"m1": first.content}
    assert ModelPin.objects.filter(ended=None).count() == 1
    after(acts.unpin(user=people.owner, bank=bank, model_id="m1"))
    assert (models_in(bank)["m1"].trigger or {})["refresh_after_consolidation"] is True


def test_a_deleted_model_is_pinned_no_more(bank: Bank, line: LyingTransport, people: People) -> None:
    make_model(bank)
    after(acts.pin(user=people.owner, bank=bank, model_id="m1", seen=shown(bank)))
    after(acts.delete(user=people.owner, bank=bank, model_id="m1", seen=shown(bank)))
    assert acts.texts_of(bank) == {}


def test_while_something_is_done_about_a_model_nothing_else_is_begun(
    bank: Bank, line: LyingTransport, people: People
) -> None:
    make_model(bank)
    acts.refresh(user=people.reviewer, bank=bank, model_id="m1")
    for act in (acts.delete, acts.pin):
        with pytest.raises(Refusal):
            act(user=people.owner, bank=bank, model_id="m1", seen=shown(bank))
    assert Write.objects.count() == 1
    assert not ModelPin.objects.exists()

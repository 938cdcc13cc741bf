"""What changed since is not taken back: nothing happens, and the reason names who and what."""

import json
from typing import Any

import pytest
from django.utils import timezone

from banks.models import Bank, Blob, Write
from memadmin.accounts.models import User
from reviews.models import Decision, FactDecision, ReviewEntry
from reviews.services import decide, facts
from reviews.services.reopening import reopen_by_itself
from reviews.undoing.acts import NotUndone
from reviews.undoing.judging import EXTRACTED
from tests import factories
from tests.conftest import People
from tests.reviews.undoing import FACTS, act, end, restore, retire, undo, with_facts

pytestmark = pytest.mark.django_db


@pytest.fixture
def entry(bank: Bank) -> ReviewEntry:
    return with_facts(bank)


def refused(user: User) -> str:
    """Why, and nothing was changed by it."""

    def everything() -> list[Any]:
        models: list[Any] = [Write, Decision, FactDecision, ReviewEntry]
        return [list(model.objects.order_by("pk").values()) for model in models]

    before = everything()
    with pytest.raises(NotUndone) as why:
        undo(user)
    assert everything() == before
    return str(why.value)


def test_a_colleague_decided_since(bank: Bank, people: People) -> None:
    entry = factories.make_entry(bank)
    act("approve", people.reviewer, entry)
    decide.undo(user=people.owner, entry_id=entry.pk)
    act("delete", people.owner, entry)
    assert refused(people.reviewer).startswith("Ann Weber took it back already")
    Write.objects.filter(kind="undo").update(undo_of=None)
    assert refused(people.reviewer).startswith("Ann Weber deleted it since, ")
    entry.refresh_from_db()
    assert (entry.state, entry.decided_by) == ("deleting", "Ann Weber")


def test_it_was_written_again(bank: Bank, people: People) -> None:
    entry = factories.make_entry(bank)
    act("approve", people.reviewer, entry)
    ReviewEntry.objects.update(text=Blob.objects.store("Another text."))
    assert "written again since" in refused(people.reviewer)


def test_it_was_opened_by_itself(bank: Bank, people: People) -> None:
    entry = factories.make_entry(bank)
    act("approve", people.reviewer, entry)
    entry.refresh_from_db()
    reopen_by_itself(entry, because=ReviewEntry.Reopened.CHANGED, note="it was written again after the approval")
    assert "reopened since by housekeeping: it was written again" in refused(people.reviewer)


def test_its_bank_is_gone(bank: Bank, people: People) -> None:
    act("approve", people.reviewer, factories.make_entry(bank))
    type(bank).objects.update(gone_since=timezone.now())
    assert "no longer on the server" in refused(people.reviewer)


def test_a_delete_that_did_not_happen(bank: Bank, people: People) -> None:
    entry = factories.make_entry(bank)
    write = act("delete", people.reviewer, entry)
    Write.objects.update(error_text="It was written again.")
    write.refresh_from_db()
    end(write, state="changed")
    assert "it was not deleted" in refused(people.reviewer)


def test_a_colleague_restored_or_changed_the_fact(entry: ReviewEntry, people: People) -> None:
    retire(people.reviewer, entry, "f1", "f2")
    restore_f2(people.owner, entry)
    assert refused(people.reviewer).startswith("Ann Weber restored one of these facts since, ")


def restore_f2(user: User, entry: ReviewEntry) -> None:
    rows = [{**row, "state": "invalidated"} for row in FACTS]
    ReviewEntry.objects.filter(pk=entry.pk).update(facts=Blob.objects.store(json.dumps(rows)))
    restore(user, entry, "f2")


def test_the_log_row_was_restored_by_a_colleague(entry: ReviewEntry, people: People) -> None:
    row = retire(people.reviewer, entry, "f1")
    facts.restore_row(user=people.owner, write_id=row.pk)
    assert refused(people.reviewer) == "Ann Weber took it back already."


def test_somebody_restored_it_on_the_server(entry: ReviewEntry, people: People) -> None:
    retire(people.reviewer, entry, "f1")
    FactDecision.objects.update(verdict="restored", origin="observed", user=None, user_name="")
    assert "On the server it was restored by somebody else" in refused(people.reviewer)


def test_the_fact_was_extracted_anew(entry: ReviewEntry, people: People) -> None:
    retire(people.reviewer, entry, "f1")
    ReviewEntry.objects.update(facts=Blob.objects.store(json.dumps([{**FACTS[0], "id": "other"}])), fact_count=1)
    ReviewEntry.objects.update(retired_count=0)
    assert "extracted anew since" in refused(people.reviewer)


def test_the_fact_got_another_text(entry: ReviewEntry, people: People) -> None:
    for user, text in ((people.reviewer, "Ann left."), (people.owner, "Ann is back.")):
        write = facts.edit(user=user, entry_id=entry.pk, fact_id="f1", text_hash="", new_text=text)
        assert write is not None
        end(write, edited=["f1"])
    assert refused(people.reviewer).startswith("Ann Weber edited it since, ")


def test_the_old_text_was_erased(entry: ReviewEntry, people: People) -> None:
    write = facts.edit(user=people.reviewer, entry_id=entry.pk, fact_id="f1", text_hash="", new_text="Ann left.")
    assert write is not None
    end(write, edited=["f1"])
    Blob.objects.filter(pk=write.before_id).update(erased=timezone.now())
    assert "copy of the earlier text was erased" in refused(people.reviewer)


def test_another_write_of_the_fact_is_under_way(entry: ReviewEntry, people: People) -> None:
    retire(people.reviewer, entry, "f1")
    facts.edit(user=people.owner, entry_id=entry.pk, fact_id="f1", text_hash="", new_text="Other words.")
    assert refused(people.reviewer) == "“edit-fact” of it by Ann Weber is under way."


def test_the_document_is_being_extracted_again(entry: ReviewEntry, people: People) -> None:
    retire(people.reviewer, entry, "f1")
    act("edit", people.owner, entry, new_text="Other words.")
    assert refused(people.reviewer) == EXTRACTED


def test_a_row_that_is_being_sent_waits(entry: ReviewEntry, people: People) -> None:
    retire(people.reviewer, entry, "f1", ended=False)
    Write.objects.update(state="retrying", sent=timezone.now())  # of several facts some may be retired
    assert "press again" in refused(people.reviewer)


def test_a_row_that_did_nothing_has_nothing_to_take_back(entry: ReviewEntry, people: People) -> None:
    write = retire(people.reviewer, entry, "f1", ended=False)
    Write.objects.update(error_text="It is no longer in the bank.")
    write.refresh_from_db()
    end(write, state="attention", retired=[])
    assert refused(people.reviewer) == "Nothing was retired by it. It is no longer in the bank."

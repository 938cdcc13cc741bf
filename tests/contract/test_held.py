"""Memories held for review, with each server: in the bank once when somebody approved them, never when not."""

import pytest

from banks.models import Bank as BankRow
from memadmin.accounts.models import User
from reviews.models import ReviewEntry
from reviews.services import decide
from tests.banks.retaining import sent, states
from tests.contract.conftest import Bank
from tests.contract.test_retain_queue import Line, in_bank, line, retains, row, user, work
from tests.contract.test_through_the_door import entry_of, look
from tests.reviews.holding import act, held

__all__ = ["line", "row", "user"]

pytestmark = pytest.mark.django_db(transaction=True)


def stored_text(document_id: str) -> str:
    """As a fresh look at the bank finds it."""
    entry = entry_of(document_id)
    assert entry.load_state == ReviewEntry.Load.LOADED, entry.load_error
    assert entry.text is not None
    return entry.text.text


@pytest.mark.parametrize("fate", ["pass", "lost", "killed after"])
def test_what_is_approved_is_in_the_bank_once_and_nothing_else_ever(
    row: BankRow, bank: Bank, user: User, line: Line, fate: str
) -> None:
    approved, rejected, _ = held(user, row, "Ann moved to Lyon.", "Ben stayed in Oslo.", "Cara left.")
    work(row)
    assert (line.posts, in_bank(bank), states(row)) == (0, {}, ["held"] * 3)
    act("approve", user, approved)
    act("delete", user, rejected)
    line.fates = [fate]
    work(row)
    assert states(row) == ["done", "discarded", "held"]
    assert in_bank(bank) == {approved.document_id: "Ann moved to Lyon."}
    assert (retains(bank), len(bank.facts(approved.document_id))) == (1, 1)
    assert [write.outcome["memories"] for write in sent(row)] == [1]
    assert stored_text(approved.document_id) == "Ann moved to Lyon."
    assert [entry.state for entry in ReviewEntry.objects.order_by("pk")] == ["approved", "rejected", "held"]


def test_what_was_sent_is_nothing_new_to_the_look_at_the_bank(row: BankRow, bank: Bank, user: User) -> None:
    BankRow.objects.filter(pk=row.pk).update(settle_minutes=0)
    assert look(row) == "watermark set"
    (entry,) = held(user, row, {"content": "Ann moved to Lyon.", "document_id": "notes/a"})
    act("edit", user, entry, new_text="Ann moved to Nice.")
    act("approve", user, entry)
    work(row)
    assert in_bank(bank) == {"notes/a": "Ann moved to Nice."}
    assert stored_text("notes/a") == "Ann moved to Nice."
    assert look(row) == "0 new, 0 changed"
    entry = ReviewEntry.objects.get()
    assert (entry.state, entry.document_id, entry.item) == ("approved", "notes/a", None)


def test_a_rejection_that_is_taken_back_is_sent_once_approved(row: BankRow, bank: Bank, user: User) -> None:
    (entry,) = held(user, row, "Ann moved to Lyon.")
    act("delete", user, entry)
    work(row)
    decide.undo(user=user, entry_id=entry.pk)
    work(row)
    assert in_bank(bank) == {}
    act("approve", user, entry)
    work(row)
    assert (list(in_bank(bank).values()), states(row), retains(bank)) == (["Ann moved to Lyon."], ["done"], 1)

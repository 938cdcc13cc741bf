"""Several memories of one document while they are held: none is sent over a newer one, and the document has one row."""

import pytest

from banks.models import Bank, RetainItem, Write
from reviews.errors import TooLate
from reviews.models import Decision, ReviewEntry
from reviews.services import decide, load
from tests.banks.conftest import LyingTransport, line, store
from tests.banks.retaining import drain, put, states, text_of
from tests.conftest import People
from tests.reviews.holding import act, held, hold, look

__all__ = ["line"]

pytestmark = pytest.mark.django_db(transaction=True)


def document(content: str, **more: str) -> dict[str, str]:
    return {"content": content, "document_id": "session-7", **more}


def append(content: str) -> dict[str, str]:
    return document(content, update_mode="append")


def read(entry: ReviewEntry) -> str:
    """As a worker reads what wants to be read."""
    entry.refresh_from_db()
    said = load.load(entry.pk)
    entry.refresh_from_db()
    return said


def test_once_it_is_there_it_is_the_approved_document(bank: Bank, people: People, line: LyingTransport) -> None:
    look(bank)
    (entry,) = held(people.reviewer, bank, document("Ann came. Ben left."))
    act("approve", people.owner, entry)
    drain(bank)
    assert read(entry) == "loaded"
    assert (entry.item, entry.state, entry.decided_by, entry.fact_count) == (None, "approved", "Ann Weber", 2)
    assert entry == ReviewEntry.objects.of_document(bank=bank, document_id="session-7").get()
    assert (look(bank), ReviewEntry.objects.count()) == ("0 new, 0 changed", 1)
    store(bank, "session-7", "Ann came back.")  # by somebody else
    assert look(bank) == "0 new, 1 changed"
    read(entry)
    assert (entry.state, entry.reopened_because) == ("pending", "changed")


def test_a_look_before_its_batch_has_ended_finds_nothing_new(bank: Bank, people: People, line: LyingTransport) -> None:
    look(bank)
    (entry,) = held(people.reviewer, bank, document("Ann came."))
    act("approve", people.owner, entry)
    RetainItem.objects.update(state="sent")
    store(bank, "session-7", "Ann came.")
    assert look(bank) == "0 new, 0 changed"


def test_a_text_for_a_document_under_review_is_taken_over_by_its_row(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    look(bank)
    store(bank, "session-7", "Ann came.")
    look(bank)
    known = ReviewEntry.objects.get()
    read(known)
    (entry,) = held(people.reviewer, bank, document("Ann came. Ben left."))
    known.refresh_from_db()
    assert (known.state, known.text.text) == ("pending", "Ann came.")  # type: ignore[union-attr]
    act("approve", people.owner, entry)
    drain(bank)
    assert ReviewEntry.objects.get() == known
    read(known)
    assert (known.state, known.text.text, known.reopened_because) == ("approved", "Ann came. Ben left.", "")  # type: ignore[union-attr]
    assert Decision.objects.get().entry == known
    assert look(bank) == "0 new, 0 changed"


def test_a_newer_text_takes_the_place_of_the_one_that_is_held(bank: Bank, people: People, line: LyingTransport) -> None:
    (entry,) = held(people.reviewer, bank, document("Ann came."))
    (newer,) = held(people.reviewer, bank, document("Ann came. Ben left."))
    assert newer == entry
    assert newer.version == entry.version + 1
    assert (newer.state, newer.preview, states(bank)) == ("held", "Ann came. Ben left.", ["discarded", "held"])
    act("approve", people.owner, newer)
    drain(bank)
    assert text_of(bank, "session-7") == "Ann came. Ben left."


def test_what_was_to_be_appended_gives_way_to_a_whole_text(bank: Bank, people: People) -> None:
    (piece,) = held(people.reviewer, bank, append("Ben left."))
    held(people.reviewer, bank, document("Ann came. Ben left."))
    piece.refresh_from_db()
    assert (piece.state, piece.decided_via, piece.decided_by) == ("rejected", "housekeeping", "")
    assert Write.objects.get(kind="reject").via == "housekeeping"
    assert states(bank) == ["discarded", "held"]


def test_a_document_s_memories_are_decided_on_in_their_order(bank: Bank, people: People, line: LyingTransport) -> None:
    whole, piece = held(people.reviewer, bank, document("Ann came."), append("Ben left."))
    with pytest.raises(TooLate, match="Decide on that first"):
        act("approve", people.owner, piece)
    act("approve", people.owner, whole)
    act("approve", people.owner, piece)
    drain(bank)
    assert text_of(bank, "session-7") == "Ann came.\nBen left."


def test_what_was_overtaken_while_the_policy_was_off_is_not_sent(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    (entry,) = held(people.reviewer, bank, document("Ann came."))
    hold(bank, on=False)
    put(people.reviewer, bank, document("Ann came. Ben left."))
    with pytest.raises(TooLate, match="newer text"):
        act("approve", people.owner, entry)
    drain(bank)
    with pytest.raises(TooLate, match="newer text"):
        act("approve", people.owner, entry)
    assert text_of(bank, "session-7") == "Ann came. Ben left."


def test_what_was_approved_and_appended_leaves_an_approval_standing(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    look(bank)
    (entry,) = held(people.reviewer, bank, document("Ann came."))
    act("approve", people.owner, entry)
    drain(bank)
    read(entry)
    one, two = held(people.reviewer, bank, append("Ben left."), append("Cara stayed."))
    act("approve", people.owner, one)
    drain(bank)
    act("approve", people.owner, two)
    drain(bank)
    assert read(entry) == "loaded"
    assert (entry.state, entry.text.text) == ("approved", "Ann came.\nBen left.\nCara stayed.")  # type: ignore[union-attr]
    store(bank, "session-7", "Ann came.\nBen left.\nCara stayed.\nDan lied.")
    look(bank)
    read(entry)
    assert (entry.state, entry.reopened_because) == ("pending", "changed")


def test_what_is_appended_to_a_document_that_waits_leaves_it_waiting(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    look(bank)
    store(bank, "session-7", "Ann came.")
    look(bank)
    known = ReviewEntry.objects.get()
    (piece,) = held(people.reviewer, bank, append("Ben left."))
    act("approve", people.owner, piece)
    drain(bank)
    read(known)
    piece.refresh_from_db()
    assert (known.state, known.text.text) == ("pending", "Ann came.\nBen left.")  # type: ignore[union-attr]
    assert (piece.state, piece.item_id is not None) == ("approved", True)


def test_what_is_appended_to_nothing_is_the_document(bank: Bank, people: People, line: LyingTransport) -> None:
    look(bank)
    (piece,) = held(people.reviewer, bank, append("Ben left."))
    act("approve", people.owner, piece)
    drain(bank)
    read(piece)
    assert (piece.state, piece.item, piece.text.text) == ("approved", None, "Ben left.")  # type: ignore[union-attr]


def test_after_it_has_arrived_the_approval_is_taken_back_as_any_other(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    (entry,) = held(people.reviewer, bank, document("Ann came."))
    act("approve", people.owner, entry)
    drain(bank)
    read(entry)
    decide.undo(user=people.owner, entry_id=entry.pk)
    entry.refresh_from_db()
    assert (entry.state, states(bank)) == ("pending", ["done"])

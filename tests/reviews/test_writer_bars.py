"""Where a bank's policy bars the writer: who edited a text, or retained it by hand, does not approve it."""

import pytest

from banks import retain
from banks.models import Bank, Blob, RetainItem, Server, Write
from memadmin.accounts.models import User
from reviews.errors import OwnText
from reviews.models import Decision, ReviewEntry
from reviews.services.approvals import writers_of
from tests import factories
from tests.conftest import People
from tests.reviews.holding import held, hold
from tests.reviews.queue_files import URL, add, done, import_lines
from tests.reviews.undoing import act

pytestmark = pytest.mark.django_db


@pytest.fixture
def barring(bank: Bank) -> Bank:
    Bank.objects.update(bars_writer=True)
    bank.refresh_from_db()
    return bank


def edited(entry: ReviewEntry, user: User, text: str) -> None:
    """The edit is done, and its text loaded from the bank again."""
    write = act("edit", user, entry, new_text=text)
    Write.objects.filter(pk=write.pk).update(state="done")
    values = {"text": write.request, "text_by": user, "load_state": "loaded", "load_after": None}
    ReviewEntry.objects.filter(pk=entry.pk).update(version=entry.version + 2, **values)
    entry.refresh_from_db()


def by_hand(user: User, bank: Bank, via: Write.Via = Write.Via.WEB) -> ReviewEntry:
    """A held memory that this person typed in."""
    hold(bank)
    (item,) = retain.enqueue(user=user, bank=bank, items=retain.parse([{"content": "Ann came."}]), via=via).items
    return ReviewEntry.objects.select_related("bank").get(item=item)


def test_who_edited_a_text_leaves_it_to_another(barring: Bank, people: People) -> None:
    entry = factories.make_entry(barring, text="The timeout is 30 s.")
    edited(entry, people.reviewer, "The timeout is 60 s.")
    with pytest.raises(OwnText, match="another person has to approve it"):
        act("approve", people.reviewer, entry)
    entry.refresh_from_db()
    assert (entry.state, Decision.objects.filter(verdict="approved").count()) == ("pending", 0)
    act("approve", people.owner, entry)
    entry.refresh_from_db()
    assert entry.state == "approved"


def test_who_edited_it_before_the_last_edit_wrote_it_too(barring: Bank, people: People) -> None:
    entry = factories.make_entry(barring, text="One.")
    edited(entry, people.reviewer, "Two.")
    edited(entry, people.owner, "Three.")
    assert writers_of(entry) == {people.reviewer.pk, people.owner.pk}


def test_what_an_agent_wrote_since_is_nobodys(barring: Bank, people: People) -> None:
    entry = factories.make_entry(barring, text="One.")
    edited(entry, people.reviewer, "Two.")
    ReviewEntry.objects.update(text=Blob.objects.store("The agent's."), text_by=None)
    entry.refresh_from_db()
    assert writers_of(entry) == set()
    act("approve", people.reviewer, entry)


def test_without_the_rule_anybody_approves(bank: Bank, people: People) -> None:
    entry = factories.make_entry(bank, text_by=people.reviewer)
    act("approve", people.reviewer, entry)


def test_who_wrote_may_delete_and_edit_again(barring: Bank, people: People) -> None:
    entry = factories.make_entry(barring, text_by=people.reviewer)
    assert act("delete", people.reviewer, entry)


def test_what_was_typed_in_and_held_is_approved_by_another(barring: Bank, people: People) -> None:
    entry = by_hand(people.owner, barring)
    with pytest.raises(OwnText):
        act("approve", people.owner, entry)
    act("approve", people.reviewer, entry)
    assert RetainItem.objects.get().state == "queued"


def test_a_program_writes_under_nobodys_name(barring: Bank, people: People) -> None:
    (entry,) = held(people.owner, barring, "An agent's.")
    act("approve", people.owner, entry)


def test_a_document_that_was_typed_in_is_its_writers(barring: Bank, people: People) -> None:
    by_hand(people.owner, barring)
    item = RetainItem.objects.get()
    entry = factories.make_entry(barring, item.document_id, text="Ann came.")
    assert writers_of(entry) == {people.owner.pk}
    assert writers_of(factories.make_entry(barring, text="Ann came.")) == set()  # the same words elsewhere


def test_a_file_does_not_approve_what_a_person_edited(barring: Bank, people: People) -> None:
    Server.objects.update(base_url=URL)
    import_lines([add("notes/1.md"), add("notes/2.md")], people.owner)
    ReviewEntry.objects.filter(document_id="notes/1.md").update(text_by=people.owner)
    lines = [add("notes/1.md"), add("notes/2.md"), done("notes/1.md"), done("notes/2.md")]
    import_lines(lines, people.owner)
    states = dict(ReviewEntry.objects.values_list("document_id", "state"))
    assert states == {"notes/1.md": "pending", "notes/2.md": "approved"}

"""Where a bank's policy wants two people: the first approval decides nothing, the second does, and time is nobody."""

from datetime import timedelta

import pytest
from django.utils import timezone

from banks.models import Bank, RetainItem, Server, Write
from banks.services import policy
from reviews.errors import AlreadyVouched, Conflict, OwnText
from reviews.models import Decision, ReviewEntry
from reviews.services import decide, expiry
from tests import factories
from tests.conftest import People
from tests.reviews.holding import held, item_of
from tests.reviews.queue_files import URL, add, done, import_lines
from tests.reviews.undoing import act, said, undo

pytestmark = pytest.mark.django_db


@pytest.fixture
def two(bank: Bank) -> Bank:
    Bank.objects.update(two_reviewers=True)
    bank.refresh_from_db()
    return bank


def verdicts(entry: ReviewEntry) -> list[str]:
    return list(entry.decisions.order_by("pk").values_list("verdict", flat=True))


def state_of(entry: ReviewEntry) -> str:
    entry.refresh_from_db()
    return entry.state


def test_the_second_person_approves(two: Bank, people: People) -> None:
    entry = factories.make_entry(two)
    version = entry.version
    act("approve", people.reviewer, entry)
    assert (state_of(entry), entry.version, entry.vouched, entry.decided_by) == ("pending", version, True, "")
    act("approve", people.owner, entry)
    assert (state_of(entry), entry.vouched, entry.decided_by) == ("approved", False, "Ann Weber")
    rows = Decision.objects.order_by("pk")
    assert [(row.verdict, row.user, row.decided_via) for row in rows] == [
        ("vouched", people.reviewer, "person"),
        ("approved", people.owner, "person"),
    ]
    assert list(Write.objects.order_by("pk").values_list("kind", "state")) == [("vouch", "done"), ("approve", "done")]


def test_nobody_is_two_people(two: Bank, people: People) -> None:
    entry = factories.make_entry(two)
    act("approve", people.reviewer, entry)
    for via in (Write.Via.WEB, Write.Via.API):
        with pytest.raises(AlreadyVouched):
            act("approve", people.reviewer, entry, via=via)
    assert (state_of(entry), verdicts(entry), Write.objects.count()) == ("pending", ["vouched"], 1)


def test_an_approval_is_of_the_text_that_was_seen(two: Bank, people: People) -> None:
    entry = factories.make_entry(two, text="First.")
    act("approve", people.reviewer, entry)
    other = factories.make_entry(two, text="Second.")
    ReviewEntry.objects.filter(pk=entry.pk).update(text=other.text, version=entry.version + 1)
    entry.refresh_from_db()
    assert not entry.vouched
    act("approve", people.owner, entry)
    assert (state_of(entry), verdicts(entry)) == ("pending", ["vouched", "vouched"])


def test_the_first_approval_is_taken_back_and_the_next_is_the_first_again(two: Bank, people: People) -> None:
    entry = factories.make_entry(two, "notes/1.md")
    act("approve", people.reviewer, entry)
    stale = {"version": entry.version, "text_hash": entry.text_id}
    assert said(people.reviewer) == ["vouch of notes/1.md"]
    undo(people.reviewer)
    with pytest.raises(Conflict) as conflict:
        decide.approve(user=people.owner, entry_id=entry.pk, **stale)  # type: ignore[arg-type]
    assert str(conflict.value).startswith("Mira Kovač withdrew the approval of this memory before you.")
    act("approve", people.owner, entry)
    assert (state_of(entry), verdicts(entry)) == ("pending", ["vouched", "withdrawn", "vouched"])
    act("approve", people.reviewer, entry)
    assert state_of(entry) == "approved"


def test_an_approval_that_is_taken_back_needs_two_again(two: Bank, people: People) -> None:
    entry = factories.make_entry(two)
    act("approve", people.reviewer, entry)
    act("approve", people.owner, entry)
    undo(people.owner)
    assert (state_of(entry), entry.vouched) == ("pending", False)
    act("approve", people.owner, entry)
    assert state_of(entry) == "pending"
    act("approve", people.operator, entry)
    assert state_of(entry) == "approved"


def test_what_was_completed_is_not_taken_back_by_the_first(two: Bank, people: People) -> None:
    entry = factories.make_entry(two)
    act("approve", people.reviewer, entry)
    act("approve", people.owner, entry)
    with pytest.raises(Exception, match="Ann Weber approved it since"):
        undo(people.reviewer)
    assert state_of(entry) == "approved"


def test_one_person_deletes_and_edits(two: Bank, people: People) -> None:
    entry = factories.make_entry(two)
    act("approve", people.reviewer, entry)
    act("delete", people.reviewer, entry)
    assert state_of(entry) == "deleting"


def test_time_is_no_reviewer(two: Bank, people: People) -> None:
    now = timezone.now()
    long_ago = now - timedelta(days=30)
    entry = factories.make_entry(two, first_imported_at=long_ago)
    expiry.set_expiry(entry, age_from=long_ago)
    assert entry.expires_at is None
    # What was dated while the policy changed, before and after the first approval.
    ReviewEntry.objects.update(expires_at=long_ago)
    assert expiry.run(now=now).count == 0
    act("approve", people.reviewer, entry)
    assert expiry.run(now=now).count == 0
    assert state_of(entry) == "pending"


def test_the_policy_takes_the_dates_away_and_brings_them_back(bank: Bank, people: People) -> None:
    entry = factories.make_entry(bank)
    expiry.set_expiry(entry, age_from=timezone.now())
    entry.save()
    for wanted in (True, False):
        values = {**policy.values_of(bank), "two_reviewers": wanted}
        assert policy.change(actor=people.owner, bank=bank, shown=policy.seen(bank), values=values)
        bank.refresh_from_db()
        entry.refresh_from_db()
        assert (entry.expires_at is None) is wanted


def test_a_file_is_no_reviewer(two: Bank, people: People) -> None:
    Server.objects.update(base_url=URL)
    import_lines(
        [add("notes/1.md"), done("notes/1.md"), add("notes/2.md"), done("notes/2.md", action="deleted")],
        people.reviewer,
    )
    states = dict(ReviewEntry.objects.values_list("document_id", "state"))
    assert states == {"notes/1.md": "pending", "notes/2.md": "deleted"}


def test_what_is_held_is_sent_with_the_second_approval(two: Bank, people: People) -> None:
    (entry,) = held(people.owner, two, "Ann came.")
    act("approve", people.reviewer, entry)
    assert (state_of(entry), item_of(entry).state) == ("held", RetainItem.State.HELD)
    undo(people.reviewer)
    act("approve", people.reviewer, entry)
    act("approve", people.operator, entry)
    assert (state_of(entry), item_of(entry).state) == ("approved", RetainItem.State.QUEUED)


def test_both_rules_at_once(two: Bank, people: People) -> None:
    Bank.objects.update(bars_writer=True)
    entry = factories.make_entry(two, text_by=people.owner)
    with pytest.raises(OwnText):
        act("approve", people.owner, entry)
    act("approve", people.reviewer, entry)
    with pytest.raises(OwnText):
        act("approve", people.owner, entry)
    act("approve", people.operator, entry)
    assert state_of(entry) == "approved"

"""Retry of a write that failed: like the decision it belongs to, and never over a later one."""

import pytest

from banks import writes
from banks.models import Bank, Write
from reviews.models import ReviewEntry
from reviews.services import decide, vanished
from tests import factories
from tests.conftest import People

pytestmark = pytest.mark.django_db
State, Load = ReviewEntry.State, ReviewEntry.Load


@pytest.fixture
def entry(bank: Bank) -> ReviewEntry:
    return factories.make_entry(bank, "notes/a.md")


def failed(entry: ReviewEntry, people: People, kind: str) -> Write:
    """A write of the kind that needs a person, and what has become of its entry."""
    seen = {"entry_id": entry.pk, "version": entry.version, "text_hash": str(entry.text_id)}
    if kind == "edit":
        write = decide.edit(user=people.reviewer, new_text="Another fact.", **seen)
    elif kind == "delete":
        write = decide.delete(user=people.reviewer, **seen)
    else:
        ReviewEntry.objects.filter(pk=entry.pk).update(load_state=Load.MISSING)
        write = vanished.put_back_vanished(user=people.reviewer, entry_id=entry.pk, version=entry.version)
    assert write is not None
    write.state = Write.State.ATTENTION
    write.save()
    writes.registry.tell(write)
    ReviewEntry.objects.filter(pk=entry.pk).update(load_state=Load.LOADED, load_after=None)
    entry.refresh_from_db()
    return write


@pytest.mark.parametrize(
    ("kind", "state", "load_state"),
    [
        ("edit", State.PENDING, Load.LOADING),
        ("put-back", State.PENDING, Load.LOADING),
        ("delete", State.DELETING, Load.LOADED),
    ],
)
def test_what_is_sent_again_cannot_be_decided_on_meanwhile(
    entry: ReviewEntry, people: People, kind: str, state: State, load_state: Load
) -> None:
    write = failed(entry, people, kind)
    before = entry.version
    assert writes.retry(write=write, actor=people.reviewer)
    entry.refresh_from_db()
    assert (entry.state, entry.load_state, entry.load_after) == (state, load_state, None)
    assert entry.version > before


@pytest.mark.parametrize(("kind", "later"), [("edit", "approve"), ("delete", "approve"), ("put-back", "delete")])
def test_what_was_decided_since_is_not_overruled_by_a_retry(
    entry: ReviewEntry, people: People, kind: str, later: str
) -> None:
    write = failed(entry, people, kind)
    act = getattr(decide, later)
    act(user=people.owner, entry_id=entry.pk, version=entry.version, text_hash=str(entry.text_id))
    entry.refresh_from_db()
    stands = (entry.state, entry.version, entry.load_state)
    assert not writes.retry(write=write, actor=people.reviewer)
    entry.refresh_from_db()
    write.refresh_from_db()
    assert (entry.state, entry.version, entry.load_state) == stands
    assert write.state == Write.State.ATTENTION

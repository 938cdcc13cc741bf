"""The hidden middle of a memory is not approved unread."""

from collections.abc import Callable

import pytest
from django.test import Client

from banks.models import Bank
from banks.paper import PART
from reviews.errors import Unread
from reviews.models import Decision, ReviewEntry, Seen
from reviews.services import decide, expiry
from tests import factories
from tests.conftest import People
from tests.reviews.pages import Reader, shown, text_of

pytestmark = pytest.mark.django_db
SignIn = Callable[..., Client]
LONG = "Ann keeps the ledger. " * 2_000


@pytest.fixture
def entry(bank: Bank) -> ReviewEntry:
    return factories.make_entry(bank, text=LONG)


def approve_button(page: str) -> dict[str, str | None]:
    return next(
        found for tag, found in Reader(page).elements if tag == "button" and "approve" in (found.get("hx-post") or "")
    )


def test_a_clipped_card_cannot_be_approved_and_says_what_to_do(
    entry: ReviewEntry, people: People, as_user: SignIn
) -> None:
    client = as_user(people.reviewer)
    page = text_of(client.get(f"/reviews/{entry.pk}/"))
    assert "disabled" in approve_button(page)
    assert "Approving needs all of it on screen." in page
    assert "Show all 44,000 characters" in page
    refused = client.post(f"/reviews/{entry.pk}/approve/", shown(entry))
    assert refused.status_code == 409
    assert "Only the beginning and the end of this memory were shown." in text_of(refused)
    assert not Decision.objects.exists()


def test_shown_whole_it_can_be_approved_without_a_script_too(
    entry: ReviewEntry, people: People, as_user: SignIn
) -> None:
    client = as_user(people.reviewer)
    page = text_of(client.get(f"/reviews/{entry.pk}/?full=1"))
    assert LONG in page
    assert "disabled" not in approve_button(page)
    assert ("input", {"type": "hidden", "name": "part", "value": "1"}) in Reader(page).elements
    assert client.post(f"/reviews/{entry.pk}/approve/", {**shown(entry), "part": 1}).status_code == 303
    assert Decision.objects.get().verdict == "approved"


def test_what_was_opened_once_stays_read_for_this_text_and_this_person(
    entry: ReviewEntry, people: People, as_user: SignIn
) -> None:
    client = as_user(people.reviewer)
    client.post(f"/reviews/{entry.pk}/open/", {**shown(entry), "part": 1})
    assert Seen.objects.get().parts == [1]
    assert "disabled" not in approve_button(text_of(client.get(f"/reviews/{entry.pk}/")))
    with pytest.raises(Unread):
        decide.approve(user=people.owner, entry_id=entry.pk, version=1, text_hash=str(entry.text_id))
    decide.approve(user=people.reviewer, entry_id=entry.pk, version=1, text_hash=str(entry.text_id))


def test_opening_the_short_form_is_no_reading(entry: ReviewEntry, people: People, as_user: SignIn) -> None:
    as_user(people.reviewer).post(f"/reviews/{entry.pk}/open/", shown(entry))
    assert Seen.objects.get().parts == []
    with pytest.raises(Unread, match="Show all 44,000 characters first"):
        decide.approve(user=people.reviewer, entry_id=entry.pk, version=1, text_hash=str(entry.text_id))


def test_of_a_very_long_text_every_part_must_have_been_open(bank: Bank, people: People, as_user: SignIn) -> None:
    entry = factories.make_entry(bank, text="x" * (2 * PART + 1))
    client = as_user(people.reviewer)
    for part in (1, 3):
        client.post(f"/reviews/{entry.pk}/open/", {**shown(entry), "part": part})
    with pytest.raises(Unread) as refused:
        decide.approve(user=people.reviewer, entry_id=entry.pk, version=1, text_hash=str(entry.text_id))
    assert refused.value.missing == [2]
    assert "Approving needs" not in text_of(client.get(f"/reviews/{entry.pk}/?full=2"))
    decide.approve(user=people.reviewer, entry_id=entry.pk, version=1, text_hash=str(entry.text_id), part=2)


@pytest.mark.parametrize("part", ["0", "-1", "x", "9999999", ""])
def test_a_part_that_does_not_exist_reads_nothing(
    part: str, entry: ReviewEntry, people: People, as_user: SignIn
) -> None:
    answer = as_user(people.reviewer).post(f"/reviews/{entry.pk}/approve/", {**shown(entry), "part": part})
    assert answer.status_code == 409
    assert not Decision.objects.exists()


def test_a_long_memory_can_be_deleted_unread_and_a_short_one_asks_nobody(
    bank: Bank, entry: ReviewEntry, people: People
) -> None:
    decide.delete(user=people.reviewer, entry_id=entry.pk, version=1, text_hash=str(entry.text_id))
    short = factories.make_entry(bank, text="я" * 8_000)
    decide.approve(user=people.reviewer, entry_id=short.pk, version=1, text_hash=str(short.text_id))


def test_time_does_not_read(bank: Bank, entry: ReviewEntry) -> None:
    """What nobody opened is approved by time as the bank's policy says; it is recorded as time, not as a person."""
    ReviewEntry.objects.filter(pk=entry.pk).update(expires_at="2020-01-01T00:00:00Z")
    assert expiry.run().count == 1
    assert Decision.objects.get().decided_via == "expiry"

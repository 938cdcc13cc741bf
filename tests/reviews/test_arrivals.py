"""Memories of the retain queue are reviewed like all others, and once, whoever brings them first."""

import pytest
from django.utils import timezone

from banks.models import Bank
from reviews.models import ReviewEntry
from reviews.services import load, poll
from tests.banks.conftest import LyingTransport, line, store
from tests.banks.retaining import drain, put
from tests.conftest import People

__all__ = ["line"]

pytestmark = pytest.mark.django_db(transaction=True)


def look(bank: Bank) -> str:
    """Settled: nothing has to be quiet first."""
    Bank.objects.filter(pk=bank.pk).update(poll_after=timezone.now(), poll_claimed_until=None, settle_minutes=0)
    return poll.poll(bank.pk)


def test_a_memory_opens_once_it_is_in_the_bank(bank: Bank, people: People, line: LyingTransport) -> None:
    put(people.reviewer, bank, "Ann came. Ben left.", session_id="s1", project="/home/ann/api")
    assert not ReviewEntry.objects.exists()
    drain(bank)
    entry = ReviewEntry.objects.get()
    assert (entry.sources, entry.session, entry.project) == (["retain"], "s1", "/home/ann/api")
    assert (entry.state, entry.load_state) == ("pending", "loading")
    assert load.load(entry.pk) == "loaded"
    entry.refresh_from_db()
    assert (entry.text.text, entry.fact_count) == ("Ann came. Ben left.", 2)  # type: ignore[union-attr]


def test_the_look_at_the_bank_finds_nothing_new_in_it(bank: Bank, people: People, line: LyingTransport) -> None:
    look(bank)
    put(people.reviewer, bank, "Ann came.")
    drain(bank)
    load.load(ReviewEntry.objects.get().pk)
    assert look(bank) == "0 new, 0 changed"
    assert ReviewEntry.objects.count() == 1


def test_a_document_with_a_name_settles_first_and_says_where_it_came_from(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    look(bank)
    put(people.reviewer, bank, {"content": "Ann came.", "document_id": "session-7"}, project="api")
    drain(bank)
    assert not ReviewEntry.objects.exists()
    assert look(bank) == "1 new, 0 changed"
    entry = ReviewEntry.objects.get()
    assert (entry.document_id, entry.sources, entry.project) == ("session-7", ["bank", "retain"], "api")


def test_without_a_look_at_the_bank_it_opens_at_once(bank: Bank, people: People, line: LyingTransport) -> None:
    Bank.objects.update(polled=False)
    put(people.reviewer, bank, {"content": "Ann came.", "document_id": "session-7"})
    drain(bank)
    assert ReviewEntry.objects.get().sources == ["retain"]


def test_a_known_document_keeps_its_decision_until_the_bank_is_looked_at(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    look(bank)
    store(bank, "session-7", "Ann came.")
    look(bank)
    entry = ReviewEntry.objects.get()
    load.load(entry.pk)
    put(people.reviewer, bank, {"content": "Ann came. Ben too.", "document_id": "session-7"})
    drain(bank)
    entry.refresh_from_db()
    assert (entry.sources, entry.text.text) == (["bank", "retain"], "Ann came.")  # type: ignore[union-attr]
    assert look(bank) == "0 new, 1 changed"


def test_what_did_not_arrive_opens_nothing(bank: Bank, people: People, line: LyingTransport) -> None:
    put(people.reviewer, bank, "Ann came.", "[[FAIL]] Ben came.", "Carl came.")
    drain(bank)
    assert ReviewEntry.objects.count() == 1

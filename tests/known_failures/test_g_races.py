"""Several reviewers on one memory: one decides, the others learn who and when, and nothing waits for anybody."""

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.conf import settings
from django.db import connection
from django.test import Client
from django.utils import timezone

from banks.models import Bank, Write
from memadmin.accounts.models import User
from reviews.models import Decision, ReviewEntry
from reviews.services import decide, expiry
from reviews.services.seen import open_card
from tests import factories
from tests.banks.conftest import LyingTransport
from tests.conftest import People
from tests.known_failures.world import in_bank, loaded, work_off
from tests.racing import at_once
from tests.reviews.pages import shown, text_of

pytestmark = pytest.mark.django_db(transaction=True)
LEASE = timedelta(minutes=settings.LEASE_MINUTES)


@pytest.mark.parametrize("round_", range(5))
def test_row_071_of_an_approval_and_a_delete_exactly_one_wins_and_the_bank_hears_at_most_one(
    bank: Bank, people: People, line: LyingTransport, round_: int
) -> None:
    entry = loaded(bank, "b")
    seen = shown(entry)
    line.calls.clear()

    def press(user: User, act: str) -> Callable[[], int]:
        client = Client()
        client.force_login(user)

        def work() -> int:
            try:
                return client.post(f"/reviews/{entry.pk}/{act}/", {**seen, "text": f"By {user}."}).status_code
            finally:
                connection.close()

        return work

    answers = at_once(press(people.owner, "approve"), press(people.reviewer, "delete"), press(people.operator, "edit"))
    assert sorted(answers) == [303, 409, 409]  # type: ignore[type-var]
    decision = Decision.objects.get()
    work_off()
    entry.refresh_from_db()
    told = [method for method, _ in line.calls if method != "GET"]
    assert (decision.verdict, entry.state, told) in [
        ("approved", "approved", []),
        ("deleted", "deleted", ["DELETE"]),
        ("edited", "pending", ["POST"]),
    ]
    assert (in_bank(bank, "b") is None) == (decision.verdict == "deleted")


def test_row_072_a_click_on_an_older_state_changes_nothing_and_names_who_and_when(
    bank: Bank, people: People, as_user: Any
) -> None:
    entry = factories.make_entry(bank, text="As both saw it.")
    stale = shown(entry)
    with time_machine.travel(timezone.now() - timedelta(minutes=20), tick=False):
        decide.approve(user=people.owner, entry_id=entry.pk, **stale)  # type: ignore[arg-type]
    for act in ("approve", "delete", "edit"):
        answer = as_user(people.reviewer).post(f"/reviews/{entry.pk}/{act}/", {**stale, "text": "Mine."})
        page = text_of(answer)
        assert answer.status_code == 409
        assert "Ann Weber" in page
        assert "20 min ago" in page
    assert Decision.objects.get().user == people.owner
    assert Write.objects.get().kind == "approve"


def test_row_073_an_open_card_is_shown_to_others_and_holds_nobody_up(bank: Bank, people: People, as_user: Any) -> None:
    entry = factories.make_entry(bank, "notes/a.md")
    open_card(user=people.owner, entry=entry)
    client = as_user(people.reviewer)
    for path in ("/reviews/", f"/reviews/{entry.pk}/"):
        assert re.search(r'class="lease[^>]*>[^<]*<bdi>Ann Weber</bdi>', text_of(client.get(path))), path
    assert client.post(f"/reviews/{entry.pk}/approve/", shown(entry)).status_code == 303
    entry.refresh_from_db()
    assert (entry.state, entry.decided_by, entry.lease_user) == ("approved", "Mira Kovač", None)


def test_row_074_a_claim_ends_by_itself(bank: Bank, people: People, as_user: Any) -> None:
    entry = factories.make_entry(bank, "notes/a.md")
    with time_machine.travel(timezone.now(), tick=False) as clock:
        open_card(user=people.owner, entry=entry)
        clock.shift(LEASE - timedelta(seconds=1))
        assert "Ann Weber" in text_of(as_user(people.reviewer).get("/reviews/"))
        clock.shift(timedelta(seconds=2))
        assert "Ann Weber" not in text_of(as_user(people.reviewer).get("/reviews/"))
        entry.refresh_from_db()
        open_card(user=people.reviewer, entry=entry)
        entry.refresh_from_db()
        assert entry.lease_user == people.reviewer


def test_row_074_a_claim_never_holds_up_the_approval_by_time(bank: Bank, people: People) -> None:
    """Renewed for ever, as by a laptop that was left open on the card."""
    entry = factories.make_entry(bank, first_imported_at=timezone.now() - timedelta(days=30))
    expiry.set_expiry(entry, age_from=timezone.now() - timedelta(days=8))
    entry.save()
    open_card(user=people.owner, entry=entry)
    assert expiry.run().entry_ids == [entry.pk]
    assert ReviewEntry.objects.get().state == "approved"

"""The list on screen asks what has become of its rows: they stay in their place and say so."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from banks.models import Bank, Blob, Role, Write
from reviews.models import Decision, ReviewEntry
from reviews.services import decide, expiry
from tests import factories
from tests.conftest import People
from tests.reviews.happenings import List, act, when
from tests.reviews.pages import XSS, assert_harmless, text_of


@pytest.fixture
def queue(bank: Bank) -> list[ReviewEntry]:
    now = timezone.now()
    return [factories.make_entry(bank, f"notes/{n}.md", expires_at=now + timedelta(days=n)) for n in (1, 2, 3, 4)]


def test_nothing_new_is_an_empty_answer(queue: list[ReviewEntry], people: People, as_user) -> None:
    screen = List(as_user(people.reviewer))
    assert screen.ask().status_code == 204
    assert not screen.ask().content


def test_a_row_a_colleague_decided_stays_and_names_her(queue: list[ReviewEntry], people: People, as_user) -> None:
    with time_machine.travel("2026-03-16T10:42:00Z", tick=False) as clock:
        screen = List(as_user(people.reviewer), "?q=notes")
        act("approve", people.owner, queue[1])
        clock.shift(10)
        page = text_of(screen.ask())
        assert when(page, queue[1]).startswith("✓ approved by Ann Weber 10 s ago open")
        assert "undo" in when(page, queue[1])
        assert f'/reviews/{queue[1].pk}/undo/?q=notes"' in page
        assert "1 row of this list changed." in page
        assert len(page) < 3_000
        assert not when(page, queue[0])
        assert screen.ask().status_code == 204
        clock.shift(60)
        page = text_of(screen.ask())
        assert "1 min ago" in when(page, queue[1])
        assert "of this list changed" not in page  # read out once


def test_everything_that_can_happen_to_a_row(bank: Bank, people: People, as_user) -> None:
    rows = {name: factories.make_entry(bank, name) for name in ("deleted", "edited", "undone", "time", "again", "mine")}
    act("approve", people.owner, rows["undone"])
    screen = List(as_user(people.reviewer))
    decided = List(as_user(people.reviewer), "?state=decided")
    act("delete", people.owner, rows["deleted"])
    entry = rows["edited"]
    decide.edit(user=people.owner, entry_id=entry.pk, version=1, text_hash=entry.text_id, new_text="New words.")
    decide.undo(user=people.owner, entry_id=rows["undone"].pk)
    ReviewEntry.objects.filter(pk=rows["time"].pk).update(expires_at=timezone.now() - timedelta(hours=1))
    expiry.run()
    ReviewEntry.objects.filter(pk=rows["again"].pk).update(text=Blob.objects.store("Other words."), version=2)
    act("approve", people.reviewer, rows["mine"])
    page = text_of(screen.ask())
    said = {name: when(page, row) for name, row in rows.items()}
    assert said["deleted"].startswith("✕ being deleted by Ann Weber just now open")
    assert "undo" in said["deleted"]
    assert said["edited"].startswith("✎ edited by Ann Weber")
    assert "undo" not in said["edited"]
    assert said["time"].startswith("✓ approved by time")
    assert said["again"].startswith("↗ written again")
    assert said["mine"].startswith("✓ approved by you")
    assert when(text_of(decided.ask()), rows["undone"]).startswith("↑ reopened by Ann Weber")
    Write.objects.filter(kind="delete").update(state="sending")
    page = text_of(screen.ask())
    assert "undo" not in when(page, rows["deleted"])


def test_a_stale_row_that_changes_again_says_so(queue: list[ReviewEntry], people: People, as_user) -> None:
    screen = List(as_user(people.reviewer))
    act("approve", people.owner, queue[0])
    screen.ask()
    decide.undo(user=people.owner, entry_id=queue[0].pk)
    assert when(text_of(screen.ask()), queue[0]).startswith("↑ reopened by Ann Weber")


def test_undo_on_a_row_takes_back_what_it_said(queue: list[ReviewEntry], people: People, as_user) -> None:
    client = as_user(people.reviewer)
    screen = List(client)
    act("approve", people.owner, queue[0])
    page = text_of(screen.ask())
    version = re.search(r'undo/"><input[^>]*><input type="hidden" name="version" value="(\d+)"', page)[1]
    assert client.post(f"/reviews/{queue[0].pk}/undo/", {"version": version})["Location"] == f"/reviews/{queue[0].pk}/"
    act("approve", people.owner, queue[0])
    assert client.post(f"/reviews/{queue[0].pk}/undo/", {"version": version}).status_code == 409


def test_a_reader_sees_it_and_may_not_undo(queue: list[ReviewEntry], people: People, as_user) -> None:
    screen = List(as_user(people.viewer))
    act("approve", people.owner, queue[0])
    assert when(text_of(screen.ask()), queue[0]) == "✓ approved by Ann Weber just now open notes/1.md"


def test_a_row_that_had_no_text_gets_it_in_its_place(bank: Bank, people: People, as_user) -> None:
    entry = factories.make_entry(bank, load_state="loading", text="Here it is.")
    screen = List(as_user(people.reviewer))
    assert screen.ask().status_code == 204
    ReviewEntry.objects.update(load_state="loaded", version=2)
    page = text_of(screen.ask())
    assert f'id="row-{entry.pk}" hx-swap-oob="true"' in page
    assert "Here it is." in page
    assert "data-stale" not in page
    assert screen.ask().status_code == 204


def test_a_lease_comes_and_goes(queue: list[ReviewEntry], people: People, as_user) -> None:
    screen = List(as_user(people.reviewer))
    now = timezone.now()
    ReviewEntry.objects.filter(pk=queue[0].pk).update(lease_user=people.owner, lease_until=now + timedelta(minutes=5))
    page = text_of(screen.ask())
    assert "open by Ann Weber" in when(page, queue[0])
    assert "data-stale" not in page
    ReviewEntry.objects.update(lease_user=None)
    assert "open by" not in when(text_of(screen.ask()), queue[0])


def test_who_was_faster_is_remembered_as_decided(queue: list[ReviewEntry], people: People, as_user) -> None:
    """A name is shown as it was when it was decided, in a row as in the log."""
    screen = List(as_user(people.reviewer))
    act("approve", people.owner, queue[0])
    people.owner.first_name = "Anna"
    people.owner.save()
    assert "approved by Ann Weber" in when(text_of(screen.ask()), queue[0])
    assert Decision.objects.get().user_name == "Ann Weber"


def test_nasty_names_stay_names(bank: Bank, people: People, as_user) -> None:
    nasty = factories.make_user("nasty", first_name="<script>alert(1)</script>", is_superuser=True)
    entry = factories.make_entry(bank, XSS, text=XSS)
    screen = List(as_user(people.reviewer))
    act("approve", nasty, entry)
    page = text_of(screen.ask())
    assert_harmless(page)
    assert "&lt;script&gt;" in page


def test_roles_of_other_banks_do_not_count(bank: Bank, people: People, as_user) -> None:
    other = factories.make_bank("other")
    factories.grant(people.reviewer, other, Role.VIEWER)
    factories.grant(people.owner, other, Role.ADMIN)
    mine, theirs = factories.make_entry(bank), factories.make_entry(other)
    screen = List(as_user(people.reviewer))
    for entry in (mine, theirs):
        act("approve", people.owner, entry)
    page = text_of(screen.ask())
    assert "undo" in when(page, mine)
    assert "undo" not in when(page, theirs)

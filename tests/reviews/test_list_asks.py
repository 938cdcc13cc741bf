"""What a list on screen asks for, what it is told, what that costs, and when it ends."""

import re
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from banks.models import Bank, Blob, Membership
from reviews.models import ReviewEntry, Seen
from reviews.services import decide
from tests import factories
from tests.conftest import People
from tests.reviews.happenings import List, act, when
from tests.reviews.pages import HTMX, XSS, assert_harmless, text_of


@pytest.fixture
def queue(bank: Bank) -> list[ReviewEntry]:
    now = timezone.now()
    return [factories.make_entry(bank, f"notes/{n}.md", expires_at=now + timedelta(days=n)) for n in (1, 2, 3, 4)]


def test_new_arrivals_are_announced_and_not_inserted(queue: list[ReviewEntry], people: People, as_user) -> None:
    act("approve", people.owner, queue[3])
    screen = List(as_user(people.reviewer), "?q=notes")
    for number in (7, 8):
        factories.make_entry(queue[0].bank, f"notes/{number}.md")
    factories.make_entry(queue[0].bank, "elsewhere.md")
    factories.make_entry(factories.make_bank("theirs"), "notes/9.md")
    decide.undo(user=people.owner, entry_id=queue[3].pk)
    page = text_of(screen.ask())
    assert '<a class="button" href="/reviews/?q=notes"><b>3 new</b>' in page
    assert "3 new." in page
    assert "notes/7.md" not in page
    assert screen.ask().status_code == 204


def test_an_empty_queue_tells_what_arrives(bank: Bank, people: People, as_user) -> None:
    screen = List(as_user(people.reviewer))
    assert "Nothing is waiting for a decision." in screen.page
    factories.make_entry(bank)
    assert "<b>1 new</b>" in text_of(screen.ask())


def test_asking_ends_when_nothing_can_change(queue: list[ReviewEntry], people: People, as_user) -> None:
    with time_machine.travel("2026-03-16T10:42:00Z", tick=False) as clock:
        screen = List(as_user(people.reviewer), f"?bank={queue[0].bank_id}")
        for entry in queue:
            act("approve", people.owner, entry)
        screen.ask()
        assert screen.asks is not None
        clock.shift(601)
        page = text_of(screen.ask())
        assert screen.asks is None
        assert "Show what is left" in page


def test_what_one_may_not_see_any_more_is_not_described(queue: list[ReviewEntry], people: People, as_user) -> None:
    screen = List(as_user(people.reviewer))
    Membership.objects.filter(user=people.reviewer).delete()
    act("approve", people.owner, queue[0])
    page = text_of(screen.ask())
    assert when(page, queue[0]) == "You may not see it any more."
    assert "Ann" not in page
    assert "notes" not in page


def test_tokens_are_hostile_data(queue: list[ReviewEntry], people: People, as_user) -> None:
    client = as_user(people.stranger)
    tokens = [
        "", "_".join(f"{e.pk}.1.-.o" for e in queue), "1.1", "x.y.z.o", f"{queue[0].pk}.1.zzzzzzzz.o",
        f"{'9' * 18}.{'9' * 9}.-.o", "\x00", "_" * 5_000, XSS,
    ]  # fmt: skip
    for rows in tokens:
        for mark in ("", "x", f"{'9' * 18}.{'9' * 18}", "0.0"):
            answer = client.get("/reviews/changes/", {"rows": rows, "mark": mark, "new": XSS}, headers=HTMX)
            assert answer.status_code == 200
            assert_harmless(text_of(answer))
            assert "notes" not in text_of(answer)
    assert client.post("/reviews/changes/").status_code == 405
    assert Client().get("/reviews/changes/").status_code == 302


def test_the_number_of_queries_is_the_same_for_one_row_and_for_a_page(bank: Bank, people: People, as_user) -> None:
    counts, sizes = [], []
    for number in (1, 25):
        ReviewEntry.objects.update(state="deleted")
        rows = [factories.make_entry(bank, lease_user=people.owner) for _ in range(number)]
        screen = List(as_user(people.reviewer))
        for row in rows:
            act("approve", people.owner, row)
        factories.make_entry(bank)
        with CaptureQueriesContext(connection) as queries:
            sizes.append(len(screen.ask().content))
        counts.append(len(queries))
        assert not [q for q in queries if "banks_blob" in q["sql"]]
        with CaptureQueriesContext(connection) as quiet:
            assert screen.ask().status_code == 204
        assert len(quiet) <= len(queries)
    assert counts[0] == counts[1] <= 10
    assert sizes[1] < 25_000


def test_seen_texts_are_marked_until_they_change(queue: list[ReviewEntry], people: People, as_user) -> None:
    for entry in queue[:2]:
        Seen.objects.create(user=people.reviewer, entry=entry, text_hash=entry.text_id)
    Seen.objects.create(user=people.owner, entry=queue[2], text_hash=queue[2].text_id)
    ReviewEntry.objects.filter(pk=queue[1].pk).update(text=Blob.objects.store("Other words."))
    page = List(as_user(people.reviewer)).page
    assert page.count('class="seen"') == 1
    assert "seen" in page.split(f'id="row-{queue[0].pk}"')[1].split("</li>")[0]


@pytest.mark.parametrize("query", ["", "?age=soon", "?state=flagged", "?state=broken"])
def test_tab_list_and_rail_count_the_same(query: str, bank: Bank, people: People, as_user) -> None:
    now = timezone.now()
    factories.make_entry(bank, danger=True, expires_at=now + timedelta(hours=1))
    factories.make_entry(bank, load_state="missing", expires_at=now + timedelta(days=2))
    factories.make_entry(bank, state="approved", danger=True, decided_at=now)
    factories.make_entry(factories.make_bank("theirs"), danger=True, expires_at=now)
    page = List(as_user(people.reviewer), query).page
    tab = re.search(r'aria-current="true">[^<]*<span class="count"[^>]*>(\d+)<', page)[1]
    assert f"{tab} of {tab}, counted" in page
    assert len(re.findall('<li class="row"', page)) == int(tab)
    assert re.search(r'id="rail-pending"[^>]*>(\d+)<', page)[1] == "2"

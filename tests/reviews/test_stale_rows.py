"""The list on screen asks what has become of its rows: they stay in their place and say so."""

import html
import json
import re
from datetime import timedelta
from urllib.parse import urlencode

import pytest
import time_machine
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from banks.models import Bank, Blob, Membership, Role, Write
from memadmin.accounts.models import User
from reviews.models import Decision, ReviewEntry, Seen
from reviews.services import decide, expiry
from tests import factories
from tests.conftest import People
from tests.reviews.pages import HTMX, XSS, assert_harmless, text_of


@pytest.fixture
def queue(bank: Bank) -> list[ReviewEntry]:
    now = timezone.now()
    return [factories.make_entry(bank, f"notes/{n}.md", expires_at=now + timedelta(days=n)) for n in (1, 2, 3, 4)]


class List:
    """The list as a browser has it: what it asks for next stands in its latest answer."""

    def __init__(self, client: Client, query: str = "") -> None:
        self.client = client
        self.page = text_of(client.get(f"/reviews/{query}"))
        self.asks = _asks(self.page)

    def ask(self):
        path, values = self.asks or ("", {})
        answer = self.client.get(f"{path}{'&' if '?' in path else '?'}{urlencode(values)}", headers=HTMX)
        if answer.status_code == 200:
            self.asks = _asks(text_of(answer))
        return answer


def _asks(page: str) -> tuple[str, dict[str, str]] | None:
    found = re.search(r'id="changes" hx-get="([^"]*)" hx-vals="([^"]*)"', page)
    return (html.unescape(found[1]), json.loads(html.unescape(found[2]))) if found else None


def act(verb: str, user: User, entry: ReviewEntry) -> None:
    entry.refresh_from_db()
    decide.__dict__[verb](user=user, entry_id=entry.pk, version=entry.version, text_hash=entry.text_id)


def when(page: str, entry: ReviewEntry) -> str:
    """What stands at the right of the row."""
    found = re.search(rf'<div class="row-when" id="when-{entry.pk}"[^>]*>.*?</div>', page, re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", found[0]).split()) if found else ""


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
    assert counts[0] == counts[1] <= 8
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

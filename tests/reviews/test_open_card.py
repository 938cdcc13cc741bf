"""The card on screen says that it is open and asks what happened to it. Only its explicit post writes anything."""

import html
import json
import re
from datetime import timedelta

import pytest
import time_machine
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from banks.models import Bank, Blob
from reviews.models import ReviewEntry, Seen
from reviews.services import decide, expiry
from tests import factories
from tests.conftest import People
from tests.reviews.pages import HTMX, assert_harmless, text_of

NOON = "2026-03-16T12:00:00Z"


@pytest.fixture
def entry(bank: Bank) -> ReviewEntry:
    return factories.make_entry(bank, "notes/a.md", text="As it was.")


def asks(page: str) -> tuple[str, dict[str, str]] | None:
    found = re.search(r'id="watch" hx-post="([^"]*)".*?hx-vals="([^"]*)"', page)
    return (html.unescape(found[1]), json.loads(html.unescape(found[2]))) if found else None


def opened(client: Client, entry: ReviewEntry, path: str = "") -> HttpResponse:
    """The card is fetched, and posts what it has to post."""
    where, values = asks(text_of(client.get(f"/reviews/{entry.pk}/{path}")))
    return client.post(where, values, headers=HTMX)


def test_opening_is_a_post_of_the_card_on_screen(entry: ReviewEntry, people: People, as_user) -> None:
    answer = opened(as_user(people.reviewer), entry)
    assert (answer.status_code, answer.content) == (204, b"")
    entry.refresh_from_db()
    assert entry.lease_user == people.reviewer
    assert Seen.objects.get().text_hash == entry.text_id


@pytest.mark.parametrize(
    "headers",
    [
        {},
        HTMX,
        {**HTMX, "HX-History-Restore-Request": "true"},
        {"Sec-Purpose": "prefetch"},
        {"Sec-Purpose": "prefetch;prerender"},
    ],
)
def test_looking_writes_nothing(headers: dict[str, str], entry: ReviewEntry, people: People, as_user) -> None:
    client = as_user(people.reviewer)
    for path in ("", "edit/", "changed/", "skip/"):
        client.get(f"/reviews/{entry.pk}/{path}", headers=headers)
        client.head(f"/reviews/{entry.pk}/{path}", headers=headers)
    client.get("/reviews/changes/", {"rows": f"{entry.pk}.1.-.o"}, headers=headers)
    client.get("/reviews/", headers=headers)
    for path in ("open", "leave"):
        assert client.get(f"/reviews/{entry.pk}/{path}/", headers=headers).status_code == 405
        assert client.head(f"/reviews/{entry.pk}/{path}/", headers=headers).status_code == 405
    entry.refresh_from_db()
    assert entry.lease_user is None
    assert not Seen.objects.exists()


def test_a_page_that_is_only_prepared_is_not_seen(entry: ReviewEntry, people: People, as_user) -> None:
    client = as_user(people.reviewer)
    where, values = asks(text_of(client.get(f"/reviews/{entry.pk}/")))
    client.post(where, values, headers={**HTMX, "Sec-Purpose": "prefetch;prerender"})
    client.post(where, {"text_hash": entry.text_id}, headers=HTMX)  # does not say which version
    assert not Seen.objects.exists()


def test_who_may_not_decide_holds_nothing(entry: ReviewEntry, people: People, as_user) -> None:
    assert asks(text_of(as_user(people.viewer).get(f"/reviews/{entry.pk}/"))) is None
    for path in ("open", "leave"):
        assert as_user(people.viewer).post(f"/reviews/{entry.pk}/{path}/", {"version": 1}).status_code == 403
        assert as_user(people.stranger).post(f"/reviews/{entry.pk}/{path}/", {"version": 1}).status_code == 404


def test_a_lease_is_renewed_while_asked_for_and_ends_by_itself(entry: ReviewEntry, people: People, as_user) -> None:
    with time_machine.travel(NOON, tick=False) as clock:
        mira, ann = as_user(people.reviewer), as_user(people.owner)
        opened(mira, entry)
        clock.shift(120)
        page = text_of(ann.get(f"/reviews/{entry.pk}/"))
        assert "<bdi>Mira Kovač</bdi> has had this open for 2 min" in page
        clock.shift(120)
        opened(mira, entry)
        clock.shift(120)  # six minutes after the first: renewed in between
        assert "has had this open for 6 min" in text_of(ann.get(f"/reviews/{entry.pk}/"))
        clock.shift(181)
        assert "open for" not in text_of(ann.get(f"/reviews/{entry.pk}/"))
        opened(ann, entry)
        entry.refresh_from_db()
        assert entry.lease_user == people.owner
        clock.shift(600)
        opened(mira, entry)
        clock.shift(60)
        assert "has had this open for 1 min" in text_of(ann.get(f"/reviews/{entry.pk}/"))  # since it was opened anew


def test_the_second_reader_is_told_and_does_not_take_over(entry: ReviewEntry, people: People, as_user) -> None:
    opened(as_user(people.reviewer), entry)
    answer = opened(as_user(people.owner), entry)
    assert answer.status_code == 200
    assert "<bdi>Mira Kovač</bdi> has had this open for 0 s" in text_of(answer)
    entry.refresh_from_db()
    assert entry.lease_user == people.reviewer
    where, values = asks(text_of(answer))
    assert "load" not in re.search(r'hx-trigger="([^"]*)"', text_of(answer))[1]  # or it would ask without end
    as_user(people.reviewer).post(f"/reviews/{entry.pk}/leave/")
    gone = as_user(people.owner).post(where, values, headers=HTMX)
    assert "open for" not in text_of(gone)
    assert as_user(people.owner).post(*asks(text_of(gone)), headers=HTMX).status_code == 204


def test_a_lease_is_given_back_by_its_holder_alone(entry: ReviewEntry, people: People, as_user) -> None:
    opened(as_user(people.reviewer), entry)
    as_user(people.owner).post(f"/reviews/{entry.pk}/leave/")
    entry.refresh_from_db()
    assert entry.lease_user == people.reviewer
    assert as_user(people.reviewer).post(f"/reviews/{entry.pk}/leave/").status_code == 204
    entry.refresh_from_db()
    assert (entry.lease_user, entry.lease_until) == (None, None)
    assert Seen.objects.count() == 1


def test_a_lease_blocks_nobody_and_not_time(bank: Bank, people: People) -> None:
    with time_machine.travel(NOON, tick=False):
        now = timezone.now()
        held = {"lease_user": people.reviewer, "lease_until": now + timedelta(minutes=5)}
        first, second, third, due = (factories.make_entry(bank, **held) for _ in range(4))
        seen = {"user": people.owner, "version": 1, "text_hash": first.text_id}
        decide.approve(entry_id=first.pk, **seen)
        decide.delete(entry_id=second.pk, **seen)
        assert decide.edit(entry_id=third.pk, new_text="Other words.", **seen) is not None
        ReviewEntry.objects.filter(pk=due.pk).update(expires_at=now - timedelta(seconds=1))
        assert expiry.run().entry_ids == [due.pk]
        assert not ReviewEntry.objects.filter(lease_user=people.reviewer, state="pending").exists()


@pytest.mark.parametrize("path", ["", "edit/"])
def test_a_card_goes_stale_in_its_place(path: str, entry: ReviewEntry, people: People, as_user) -> None:
    ben = as_user(people.reviewer)
    where, values = asks(text_of(ben.get(f"/reviews/{entry.pk}/{path}")))
    decide.approve(user=people.owner, entry_id=entry.pk, version=1, text_hash=entry.text_id)
    page = text_of(ben.post(where, values, headers=HTMX))
    assert 'id="actions"' in page
    assert "<bdi>Ann Weber</bdi> approved this memory just now." in page
    assert asks(page) is None  # it has said what it had to say
    assert "/approve/" not in page
    assert "As it was." not in page  # the text on screen stays
    if path:
        assert "What you typed is kept" in page
        assert "<textarea" not in page
        assert 'form="edit" name="do" value="save"' in page
    else:
        assert "Take the approval back" in page
        both = html.unescape(re.search(r'hx-get="([^"]*/changed/[^"]*)"', page)[1])
        assert "What you saw" in text_of(ben.get(both))
    assert not Seen.objects.exists()


def test_what_only_looks_like_a_change_leaves_the_card(entry: ReviewEntry, people: People, as_user) -> None:
    """Vanished for a while and found again with the same text: the version went up, what is shown still stands."""
    client = as_user(people.reviewer)
    where, values = asks(text_of(client.get(f"/reviews/{entry.pk}/")))
    ReviewEntry.objects.update(version=2)
    assert client.post(where, values, headers=HTMX).status_code == 204
    ReviewEntry.objects.update(load_state="missing", version=3)
    assert "The bank no longer has this memory." in text_of(client.post(where, values, headers=HTMX))


def test_who_has_seen_this_text(entry: ReviewEntry, people: People, as_user) -> None:
    opened(as_user(people.reviewer), entry)
    assert "seen by" not in text_of(as_user(people.reviewer).get(f"/reviews/{entry.pk}/"))
    page = text_of(as_user(people.viewer).get(f"/reviews/{entry.pk}/"))
    assert "seen by <bdi>Mira Kovač</bdi></span>" in page
    for number in range(4):
        user = factories.make_user(f"u{number}", first_name=f"<b>Name {number}</b>")
        Seen.objects.create(user=user, entry=entry, text_hash=entry.text_id)
    page = text_of(as_user(people.owner).get(f"/reviews/{entry.pk}/"))
    assert "and 2 more" in page
    assert_harmless(page)
    ReviewEntry.objects.update(text=Blob.objects.store("Written again."), version=2)
    assert "seen by" not in text_of(as_user(people.owner).get(f"/reviews/{entry.pk}/"))


def test_asking_costs_little(entry: ReviewEntry, people: People, as_user) -> None:
    client = as_user(people.reviewer)
    where, values = asks(text_of(client.get(f"/reviews/{entry.pk}/")))
    client.post(where, values, headers=HTMX)
    with CaptureQueriesContext(connection) as queries:
        assert client.post(where, values, headers=HTMX).status_code == 204
    assert len(queries) <= 5
    assert not [q for q in queries if q["sql"].startswith(("UPDATE", "INSERT"))]  # a lease is renewed seldom

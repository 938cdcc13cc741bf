import re
from datetime import timedelta

import pytest
from django.utils import timezone

from banks.models import Bank, Role
from reviews.models import ReviewEntry
from tests import factories
from tests.conftest import People
from tests.reviews.pages import NASTY_IDS, XSS, assert_harmless, links, text_of


def ids_on(page: str) -> list[int]:
    return [int(pk) for pk in re.findall(r'class="row-text" href="/reviews/(\d+)/', page)]


def test_what_expires_next_comes_first_and_undated_last(bank: Bank, people: People, as_user) -> None:
    now = timezone.now()
    undated = factories.make_entry(bank, "undated.md", enqueued_at=None, expires_at=None)
    later = factories.make_entry(bank, "later.md", expires_at=now + timedelta(days=2))
    soon = factories.make_entry(bank, "soon.md", expires_at=now + timedelta(hours=1))
    factories.make_entry(bank, state="approved")
    page = text_of(as_user(people.reviewer).get("/reviews/"))
    assert ids_on(page) == [soon.pk, later.pk, undated.pk]
    assert "3 pending, 1 of them within 24 h" in page
    assert "stays until decided" in page


def test_filters_and_their_count_agree(bank: Bank, people: People, as_user) -> None:
    now = timezone.now()
    other = factories.make_bank("other")
    factories.grant(people.reviewer, other, Role.VIEWER)
    entries = {
        "a": factories.make_entry(bank, "notes/a.md", project="checkout", reason="compaction", expires_at=now),
        "b": factories.make_entry(bank, "notes/b.md", project="mobile", enqueued_at=now - timedelta(days=4)),
        "c": factories.make_entry(other, "c.md", text="Text about flags", enqueued_at=None),
        "d": factories.make_entry(bank, "d.md", load_state="unreachable", danger=True),
        "e": factories.make_entry(bank, "e.md", state="approved", decided_at=now),
        "f": factories.make_entry(bank, "f.md", state="deleting", decided_at=now - timedelta(minutes=1)),
    }
    client = as_user(people.reviewer)
    for query, expected in {
        "": "abcd",
        f"bank={other.pk}": "c",
        "project=checkout": "a",
        "reason=compaction": "a",
        "age=soon": "a",
        "age=older-3": "b",
        "age=undated": "c",
        "state=broken": "d",
        "state=flagged": "d",
        "state=decided": "ef",
        "state=deleting": "f",
        "q=NOTES": "ab",
        "q=flags": "c",
        "q=flags&state=approved": "",
        "project=mobile&age=older-3&order=oldest": "b",
        "bank=999999999999999999999&state=nonsense&order=%00&age=older-x": "abcd",
    }.items():
        page = text_of(client.get(f"/reviews/?{query}"))
        assert set(ids_on(page)) == {entries[name].pk for name in expected}, query
        assert f"{len(expected)} of {len(expected)}, counted" in page, query


def test_pages_keep_the_filter_and_meet_every_row_once(bank: Bank, people: People, as_user) -> None:
    moment = timezone.now() + timedelta(days=1)
    for number in range(60):
        factories.make_entry(bank, f"notes/{number}.md", expires_at=None if number % 3 == 0 else moment, project="p")
    factories.make_entry(bank, "elsewhere.md")
    client, url, met = as_user(people.reviewer), "/reviews/?project=p", []
    while url:
        page = text_of(client.get(url))
        met += ids_on(page)
        url = next((f"/reviews/{link}" for link in links(page) if "page=a~" in link.replace("%7E", "~")), "")
        assert not url or "project=p" in url
    assert len(met) == len(set(met)) == 60
    back = next(link for link in links(page) if "page=b~" in link.replace("%7E", "~"))
    assert ids_on(text_of(client.get(f"/reviews/{back}"))) == met[25:50]


def test_a_bad_cursor_shows_the_first_page(bank: Bank, people: People, as_user) -> None:
    entry = factories.make_entry(bank)
    assert ids_on(text_of(as_user(people.reviewer).get("/reviews/?page=a~x~%00"))) == [entry.pk]


def test_the_number_of_queries_does_not_grow_and_no_text_is_read(
    bank: Bank, people: People, as_user, django_assert_num_queries
) -> None:
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    client, counts = as_user(people.reviewer), []
    for wanted in (3, 60):
        while ReviewEntry.objects.count() < wanted:
            factories.make_entry(bank, lease_user=people.owner, lease_until=timezone.now() + timedelta(minutes=3))
        with CaptureQueriesContext(
            connection,
        ) as queries:
            client.get("/reviews/")
        counts.append(len(queries))
        assert not [q for q in queries if "banks_blob" in q["sql"]]
    assert counts[0] == counts[1]
    assert counts[0] <= 23


def test_a_stranger_sees_none_of_it(bank: Bank, people: People, as_user) -> None:
    factories.make_entry(bank, "secret.md", project="secret-project")
    page = text_of(as_user(people.stranger).get(f"/reviews/?bank={bank.pk}"))
    assert "secret" not in page


def test_all_done(bank: Bank, people: People, as_user) -> None:
    assert "Nothing is waiting for a decision." in text_of(as_user(people.reviewer).get("/reviews/"))
    page = text_of(as_user(people.reviewer).get("/reviews/?q=nothing"))
    assert "No memory matches" in page
    assert 'value="nothing"' in page


def test_unloaded_rows_say_so(bank: Bank, people: People, as_user) -> None:
    for state in ("loading", "missing", "unreachable", "refused"):
        factories.make_entry(bank, load_state=state)
    page = text_of(as_user(people.reviewer).get("/reviews/"))
    for words in ("Loading the text", "Missing:", "Could not load:", "Refused:"):
        assert words in page


def test_others_see_who_has_a_card_open(bank: Bank, people: People, as_user) -> None:
    factories.make_entry(bank, lease_user=people.owner, lease_until=timezone.now() + timedelta(minutes=3))
    factories.make_entry(bank, lease_user=people.viewer, lease_until=timezone.now() - timedelta(seconds=1))
    page = text_of(as_user(people.reviewer).get("/reviews/"))
    assert page.count("open by") == 1
    assert "Ann Weber" in page
    assert "open by" not in text_of(as_user(people.owner).get("/reviews/"))


def test_nasty_ids_are_shown_and_never_an_address(bank: Bank, people: People, as_user) -> None:
    for document_id in NASTY_IDS:
        factories.make_entry(bank, document_id, text=XSS, project=XSS, reason=XSS, marks=[{"what": XSS, "tone": XSS}])
    page = text_of(as_user(people.reviewer).get("/reviews/"))
    assert len(ids_on(page)) == len(NASTY_IDS)
    assert_harmless(page)
    assert "U+202E" in page
    assert all(re.match(r"^(/|\?|#main)", link) and ".." not in link for link in links(page))


@pytest.mark.parametrize("query", ["q=%3Cscript%3Ealert(1)%3C/script%3E", "project=%22%3E%3Cscript%3Ealert(1)"])
def test_what_was_searched_for_is_not_markup(query: str, people: People, as_user) -> None:
    assert_harmless(text_of(as_user(people.reviewer).get(f"/reviews/?{query}")))


def test_start_reviewing_opens_the_first(bank: Bank, people: People, as_user) -> None:
    factories.make_entry(bank, expires_at=timezone.now() + timedelta(days=2))
    first = factories.make_entry(bank, expires_at=timezone.now() + timedelta(days=1))
    answer = as_user(people.reviewer).get("/reviews/next/?order=")
    assert answer["Location"] == f"/reviews/{first.pk}/"
    assert as_user(people.stranger).get("/reviews/next/")["Location"] == "/reviews/"

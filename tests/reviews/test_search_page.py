"""Search on the page of the queue: rights, pages, counts, and what it says."""

from banks.models import Bank
from memadmin.counting import count_of
from memadmin.paging import Cursor
from reviews.selectors import queue
from reviews.selectors.filters import Filters
from tests import factories
from tests.conftest import People
from tests.reviews.pages import text_of


def test_nobody_finds_what_they_may_not_see(bank: Bank, people: People) -> None:
    other = factories.make_bank("secret")
    hidden = factories.make_entry(other, "secret.md", text="flags")
    mine = factories.make_entry(bank, text="flags")
    asked = Filters(q="flags")
    assert set(queue.entries(people.reviewer, asked)) == {mine}
    assert not queue.entries(people.stranger, asked).exists()
    assert set(queue.entry_page(people.operator, asked, None).rows) == {mine, hidden}


def test_pages_of_a_search_meet_every_row_once_and_its_count_is_capped(bank: Bank, people: People) -> None:
    for number in range(60):
        factories.make_entry(bank, f"{number}.md", text="flags" if number % 2 else "ports")
    asked, cursor, met = Filters(q="flags"), None, []
    while cursor is not None or not met:
        page = queue.entry_page(people.reviewer, asked, cursor, 12)
        met += [entry.document_id for entry in page.rows]
        cursor = Cursor.parse(page.later)
    assert sorted(met) == sorted(f"{number}.md" for number in range(60) if number % 2)
    assert str(count_of(queue.entries(people.reviewer, asked), cap=29)) == "29+"
    assert str(count_of(queue.entries(people.reviewer, asked), cap=30)) == "30"


def test_a_search_that_finds_nothing_says_what_was_asked(bank: Bank, people: People, as_user) -> None:
    factories.make_entry(bank, text="flags")
    client = as_user(people.reviewer)
    page = text_of(client.get("/reviews/", {"q": "flags port", "project": "shop"}))
    assert "No memory matches <q><bdi>flags port</bdi></q> among those the other filters leave." in page
    assert 'href="/reviews/?project=shop"' in page
    assert 'href="/reviews/?q=flags+port"' in page
    assert 'placeholder="Search ids and texts"' in page
    page = text_of(client.get("/reviews/?q=port"))
    assert 'href="/reviews/">Clear the search' in page
    assert "Search all pending" not in page
    assert (
        "\u202e"
        not in text_of(client.get("/reviews/", {"q": "evil\u202e txt"})).split('role="search"')[1].split("<q>")[1]
    )

"""The filters and pages of a bank's facts: asked of its server, and compared with what it gives."""

from datetime import UTC, datetime

import httpx
import pytest
import time_machine
from django.test import Client

from banks import connections
from banks.models import Bank
from tests.banks.conftest import LyingTransport, line, store
from tests.conftest import People
from tests.reviews.pages import HTMX, links, text_of

__all__ = ["line"]
pytestmark = pytest.mark.django_db(transaction=True)
ANN, BEN = "Ann keeps the ledger.", "Ben reads it."
NOT_APPLIED = "This server did not apply"


class Deaf(LyingTransport):
    """A server that leaves one parameter of a list out, as old ones do with what they do not know."""

    forgets = ""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        for name in self.forgets.split():
            request.url = request.url.copy_remove_param(name)
        return super().handle_request(request)


def listed(client: Client, bank: Bank, **query: object) -> str:
    answer = client.get(f"/banks/{bank.pk}/facts/", query, headers=HTMX)
    assert answer.status_code == 200
    return text_of(answer)


def entity(bank: Bank, name: str) -> str:
    with connections.client_for(bank.server) as client:
        return next(each.id for each in client.list_entities(bank.bank_id).items if each.name == name)


@pytest.fixture
def dated(bank: Bank, line: LyingTransport) -> Bank:
    store(bank, "old", "Carl likes rye.", tags=["team:core"], timestamp="2026-01-05T23:30:00+00:00")
    store(bank, "new", "Carl likes oats.", tags=["team"], timestamp="2026-02-05T10:00:00+00:00")
    store(bank, "none", "Dora likes rye.", timestamp="2026-02-06T10:00:00+00:00")
    return bank


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"tag": "team:core"}, {"Carl likes rye."}),
        ({"tag": "core"}, set()),
        ({"since": "2026-01-06", "until": "2026-02-05"}, {"Carl likes oats."}),
        ({"since": "2026-01-05", "until": "2026-01-05"}, {"Carl likes rye."}),
        ({"since": "soon", "until": "2026-01-31"}, {"Carl likes rye."}),
        ({"q": "RYE", "type": "world"}, {"Carl likes rye.", "Dora likes rye."}),
        ({"q": "rye", "tag": "team:core", "since": "2026-02-01"}, set()),
    ],
)
def test_each_filter_finds_what_it_names(dated: Bank, people: People, as_user, query, found) -> None:
    page = listed(as_user(people.viewer), dated, **{"type": "world", **query})
    assert {text for text in ("Carl likes rye.", "Carl likes oats.", "Dora likes rye.") if text in page} == found
    assert NOT_APPLIED not in page
    assert found or "No fact matches." in page


def test_facts_that_speak_of_one_entity(dated: Bank, people: People, as_user) -> None:
    client, carl = as_user(people.reviewer), entity(dated, "Carl")
    of_carl = text_of(client.get(f"/banks/{dated.pk}/entities/entity/", {"entity": carl}, headers=HTMX))
    assert f"/banks/{dated.pk}/facts/?entity={carl}" in links(of_carl)
    page = listed(client, dated, entity=carl)
    assert "Only what speaks of" in page
    assert ("Carl likes oats." in page, "Dora likes rye." in page) == (True, False)
    assert "there is none here" in listed(client, dated, entity=carl, state="invalidated")
    assert "Dora likes rye." in listed(client, dated, entity="no id of any kind")
    unknown = listed(client, dated, entity="00000000-0000-4000-8000-000000000000")
    assert "Nothing is known of the entity just now" in unknown


@pytest.mark.parametrize(
    ("query", "forgotten", "named"),
    [
        ({"q": "oats"}, "q", "the text"),
        ({"type": "experience"}, "type", "the type"),
        ({"state": "invalidated"}, "state", "the state"),
        ({"tag": "team"}, "tags", "the tag"),
        ({"tag": "team"}, "tags_match", "the tag"),
        ({"entity": "Carl"}, "entity_id", "the entity"),
        ({"since": "2026-02-01"}, "time_field start_date end_date", "the days"),
        ({"until": "2026-02-01"}, "end_date", "the days"),
    ],
)
def test_a_filter_that_the_server_leaves_out_is_named(
    dated: Bank, line: LyingTransport, people: People, as_user, query, forgotten, named
) -> None:
    if "entity" in query:
        query = {"entity": entity(dated, query["entity"])}
    deaf = Deaf(line.server)
    deaf.forgets = forgotten
    connections.TRANSPORTS[dated.server.base_url] = deaf
    page = listed(as_user(people.viewer), dated, **query)
    assert f"{NOT_APPLIED} {named}.".replace("..", ".") in page
    assert "what was asked for" in page


def test_signs_of_patterns_and_backward_days_are_no_lies(
    dated: Bank, line: LyingTransport, people: People, as_user
) -> None:
    client = as_user(people.viewer)
    assert NOT_APPLIED not in listed(client, dated, q="r_e")
    line.calls.clear()
    assert "The last day is before the first." in listed(client, dated, since="2026-02-02", until="2026-02-01")
    assert line.calls == []


def test_a_day_begins_here(dated: Bank, people: People, as_user, settings) -> None:
    settings.TIME_ZONE = "Europe/Berlin"
    client = as_user(people.viewer)
    assert "Carl likes rye." in listed(client, dated, since="2026-01-06", until="2026-01-06")
    assert "Carl likes rye." not in listed(client, dated, until="2026-01-05")


def test_pages_go_to_the_end_with_their_filters(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    for part in range(2):
        store(bank, f"long {part}", " ".join(f"Item {number} is kept." for number in range(60)))
    client = as_user(people.viewer)
    first = listed(client, bank, type="world", q="kept")
    assert "120 facts" in first
    assert "1 to 50" in first
    (older,) = {link for link in links(first) if "start=50" in link}
    (final,) = {link for link in links(first) if "start=100" in link}
    assert "q=kept" in older
    assert "type=world" in older
    second = text_of(client.get(older, headers=HTMX))
    assert "51 to 100" in second
    assert "has moved" not in second
    last = text_of(client.get(final, headers=HTMX))
    assert "101 to 120" in last
    assert last.count('class="fact"') == 20
    assert not [link for link in links(last) if "start=120" in link]
    assert "no such page any more" in listed(client, bank, type="world", start="4900")
    with time_machine.travel(datetime(2030, 1, 1, tzinfo=UTC), tick=False):
        store(bank, "later", "Item 61 is kept.", timestamp="2030-01-01T00:00:00+00:00")
    assert "The list has moved since the page before." in text_of(client.get(older, headers=HTMX))


def test_a_server_that_gives_fewer_than_asked_is_read_to_the_end(
    bank: Bank, line: LyingTransport, people: People, as_user
) -> None:
    class Capped(LyingTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            request.url = request.url.copy_set_param("limit", "30")
            return super().handle_request(request)

    store(bank, "long", " ".join(f"Item {number} is kept." for number in range(60)))
    connections.TRANSPORTS[bank.server.base_url] = Capped(line.server)
    client, seen = as_user(people.viewer), set[str]()
    page = listed(client, bank, q="is kept", type="world")
    while True:
        seen |= {f"Item {number} is kept." for number in range(60) if f"Item {number} is kept." in page}
        older = [link for link in links(page) if 'rel="next"' not in link and "after=" in link]
        if not older:
            break
        page = text_of(client.get(older[0], headers=HTMX))
    assert len(seen) == 60

"""Filters do what they say, on servers that know them and on servers that do not."""

import re
from typing import Any

import httpx
import pytest

from banks import connections
from banks.hindsight import HindsightClient, RetainItem
from banks.models import Bank
from tests import factories
from tests.banks.conftest import LyingTransport, store
from tests.conftest import People
from tests.known_failures.world import loaded
from tests.reviews.pages import text_of

pytestmark = pytest.mark.django_db


class NoFilter(httpx.BaseTransport):
    """A server that ignores the filter by document, as servers do with parameters they do not know."""

    def __init__(self, line: httpx.BaseTransport) -> None:
        self.line = line

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self.line.handle_request(
            httpx.Request(request.method, request.url.copy_remove_param("document_id"), headers=request.headers)
            if request.url.path.endswith("/memories/list")
            else request
        )


def test_row_041_facts_of_other_documents_are_neither_shown_nor_counted(
    bank: Bank, people: People, line: LyingTransport, as_user: Any
) -> None:
    store(bank, "other", "Carl keeps the archive.")
    with connections.client_for(bank.server) as client:
        (fact,) = client.list_facts(bank.bank_id, document_id="other").items
        client.patch_fact(bank.bank_id, fact.id, state="invalidated", reason="it died")
    connections.TRANSPORTS[bank.server.base_url] = NoFilter(line)
    entry = loaded(bank, "mine", "Ann keeps the ledger.")
    page = text_of(as_user(people.reviewer).get(f"/reviews/{entry.pk}/"))
    assert "Carl keeps the archive" not in page
    assert (entry.fact_count, entry.retired_count) == (1, None)
    assert "this server does not list facts by document" in page


def test_row_042_a_search_box_says_what_it_searches(bank: Bank, people: People, as_user: Any) -> None:
    factories.make_entry(bank, "notes/needle.md", text="Nothing of it here.")
    factories.make_entry(bank, "notes/a.md", text="The needle is in the text.")
    client = as_user(people.reviewer)
    page = text_of(client.get("/reviews/?q=needle"))
    label = re.search(r'<label class="visually-hidden" for="q">([^<]*)</label>', page)
    assert label is not None
    assert re.search(r"\bids\b", label[1])
    assert re.search(r"words|text", label[1])
    assert page.count("notes/needle.md") > 0
    assert page.count("notes/a.md") > 0


def test_row_043_no_tags_is_said_by_saying_nothing() -> None:
    """An empty list of tags means "all" to one call and "untagged" to another: it is never sent as a filter."""
    seen: list[httpx.URL] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.url)
        return httpx.Response(200, json={"items": [], "operations": [], "total": 0})

    with HindsightClient("http://h", transport=httpx.MockTransport(answer)) as client:
        client.list_documents("b")
        client.list_facts("b")
        client.list_operations("b")
    assert seen
    assert not [url for url in seen if "tags" in url.params]
    assert "tags" not in RetainItem("Text.", "d", tags=[]).as_json()

"""The entities of a bank: listed by its server, searched here, each with the facts that name it."""

from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse

from banks import connections
from banks.models import Bank
from reviews.selectors import bank_entities
from tests.banks.conftest import LyingTransport, line, store
from tests.conftest import People
from tests.reviews.pages import HTMX, assert_harmless, text_of
from tests.reviews.test_bank_documents import NoFilter

__all__ = ["line"]
pytestmark = pytest.mark.django_db(transaction=True)


def listed(client: Client, bank: Bank, **query: str) -> str:
    answer = client.get(reverse("reviews:bank-entities", args=[bank.pk]), query, headers=HTMX)
    assert answer.status_code == 200
    return text_of(answer)


def seen(client: Client, bank: Bank, entity_id: str) -> str:
    answer = client.get(reverse("reviews:bank-entity", args=[bank.pk]), {"entity": entity_id}, headers=HTMX)
    assert answer.status_code == 200
    return text_of(answer)


def ids(bank: Bank) -> dict[str, str]:
    with connections.client_for(bank.server) as client:
        return {each.name: each.id for each in client.list_entities(bank.bank_id).items}


def test_the_page_brings_its_list_by_itself(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    client = as_user(people.viewer)
    page = text_of(client.get(f"/banks/{bank.pk}/entities/"))
    assert f'hx-get="/banks/{bank.pk}/entities/" hx-trigger="load"' in page
    assert line.calls == []
    fragment = listed(client, bank)
    assert "2 entities" in fragment
    assert ">Ann<" in fragment
    assert "<html" in text_of(client.get(f"/banks/{bank.pk}/entities/?now=1"))


def test_a_search_looks_through_the_list_and_says_how_far(
    bank: Bank, line: LyingTransport, people: People, as_user, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = as_user(people.viewer)
    found = listed(client, bank, q="aN")
    assert "1 entity found" in found
    assert ">Ben<" not in found
    assert "No entity has a name like this." in listed(client, bank, q="zoe")
    monkeypatch.setattr(bank_entities, "MOST_SEARCHED", 1)
    monkeypatch.setattr(bank_entities, "SEARCH_PAGE", 1)
    assert "Searched among the first 1 of 2." in listed(client, bank, q="zoe")


def test_an_entity_has_its_facts(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    page = seen(as_user(people.viewer), bank, ids(bank)["Ann"])
    assert "Ann keeps the ledger." in page
    assert "Ben reads it." not in page
    assert "Not all of these speak of it." not in page
    assert f'href="/banks/{bank.pk}/documents/document/?document=notes/a.md"' in page.replace("%2F", "/")


def test_facts_that_do_not_speak_of_it_are_told(
    bank: Bank, line: LyingTransport, people: People, as_user, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = ids(bank)["Ann"]
    monkeypatch.setitem(connections.TRANSPORTS, bank.server.base_url, NoFilter(line))
    assert "Not all of these speak of it." in seen(as_user(people.viewer), bank, ann)


def test_what_is_not_there_is_said(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    client = as_user(people.viewer)
    assert "not in the bank any more" in seen(client, bank, str(uuid4()))
    line.calls.clear()
    for nothing in ("", "..", "nobody"):
        assert "no id of an entity" in seen(client, bank, nothing)
    assert line.calls == []
    line.cut_before.append("GET")
    page = listed(client, bank)
    assert "The server does not answer." in page
    assert "No entities." not in page


def test_names_are_text(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    name = "<img src=x onerror=alert(1)>"
    store(bank, "x", "We like tea.", entities=[{"text": name, "type": "CONCEPT"}])
    client = as_user(people.viewer)
    assert_harmless(listed(client, bank))
    assert_harmless(seen(client, bank, ids(bank)[name]))


def test_strangers_see_none(bank: Bank, line: LyingTransport, people: People, as_user) -> None:
    client = as_user(people.stranger)
    for name in ("bank-entities", "bank-entity"):
        assert client.get(reverse(f"reviews:{name}", args=[bank.pk]), headers=HTMX).status_code == 404
    assert line.calls == []

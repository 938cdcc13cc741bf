"""The list of banks: name and id, role, what waits, the server's health, and the way to members and policy."""

import html

from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from banks.models import Bank, Role, Server
from tests import factories
from tests.banks.admin_pages import SignIn, get, url
from tests.conftest import People
from tests.reviews.pages import NASTY_IDS, XSS, assert_harmless, links, text_of


def next_of(page: str) -> str:
    return html.unescape(page.split('rel="next" href="')[1].split('"')[0])


def test_each_bank_shows_what_it_is_and_what_waits(bank: Bank, people: People, as_user: SignIn) -> None:
    Server.objects.update(health="refused")
    for _ in range(3):
        factories.make_entry(bank)
    factories.make_entry(bank, state="approved")
    page = text_of(get(as_user(people.owner), "bank-list"))
    pending = '>3<span class="visually-hidden"> pending in Checkout service</span></a> <small>oldest'
    for said in ("Checkout service", "checkout-service", pending, "key refused", ">admin<"):
        assert said in page, said
    assert f'href="{url("bank-policy", bank.pk)}"' in page
    assert f'href="{url("bank-members", bank.pk)}"' in page


def test_who_is_no_admin_gets_no_dead_links(bank: Bank, people: People, as_user: SignIn) -> None:
    page = text_of(get(as_user(people.viewer), "bank-list"))
    assert ">viewer<" in page
    assert "/policy/" not in page
    factories.grant(people.viewer, bank.server, Role.ADMIN)  # the higher of two roles counts
    assert "/policy/" in text_of(get(as_user(people.viewer), "bank-list"))


def test_only_ones_own_banks_are_listed(bank: Bank, people: People, as_user: SignIn) -> None:
    factories.make_bank("secret-bank")
    assert "secret-bank" not in text_of(get(as_user(people.owner), "bank-list", q="bank"))
    page = text_of(get(as_user(people.stranger), "bank-list"))
    assert "No bank is shown to you yet." in page
    assert "checkout" not in page
    assert get(Client(), "bank-list").status_code == 302


def test_a_server_that_refuses_the_key_is_no_empty_list(db: None, as_user: SignIn) -> None:
    factories.make_server(name="Elsewhere", health="refused", health_text="The server refuses our key (HTTP 401).")
    page = text_of(get(as_user(factories.make_user("root", is_superuser=True)), "bank-list"))
    assert "Which banks there are is unknown." in page
    assert "refuses our key" in page
    assert "No bank is shown to you yet." not in page


def test_a_bank_is_found_by_name_id_or_server(bank: Bank, people: People, as_user: SignIn) -> None:
    factories.make_bank("other", server=factories.make_server(name="Elsewhere"))
    client = as_user(people.operator)
    for q, found, missed in (("CHECKOUT-S", bank.bank_id, "other"), ("elsewh", "Elsewhere", bank.bank_id)):
        page = text_of(get(client, "bank-list", q=q))
        assert found in page
        assert missed not in page.split("<table")[1]
    assert "No bank matches." in text_of(get(client, "bank-list", q="%"))


def test_many_banks_come_in_pages_at_the_same_cost(bank: Bank, people: People, as_user: SignIn) -> None:
    client = as_user(people.owner)
    with CaptureQueriesContext(connection) as few:
        get(client, "bank-list")
    for number in range(60):
        factories.grant(people.owner, factories.make_bank(f"bank-{number:02}", server=bank.server), Role.VIEWER)
    with CaptureQueriesContext(connection) as many:
        first = text_of(get(client, "bank-list"))
    assert len(few) == len(many)
    second = text_of(client.get(next_of(first)))
    for number in range(60):
        assert (f"bank-{number:02}<" in first) != (f"bank-{number:02}<" in second), number
    assert "Checkout service" in second  # by what they are called, whatever that comes from


def test_hostile_names_and_ids_stay_text(people: People, as_user: SignIn) -> None:
    server = factories.make_server(name=XSS[:100])
    for bank_id in NASTY_IDS:
        factories.make_bank(bank_id, name=XSS if len(bank_id) > 20 else "", server=server)
    page = text_of(get(as_user(people.operator), "bank-list"))
    assert_harmless(page)
    assert not [link for link in links(page) if "onerror" in link or ".." in link]
    assert "cannot be addressed" in page


def test_what_no_page_leads_to_is_the_first_page(bank: Bank, people: People, as_user: SignIn) -> None:
    for after in ("x", "-1", "9" * 40, "٣", "1e3", "\x00"):
        assert "Checkout service" in text_of(get(as_user(people.owner), "bank-list", after=after, q="\x00"))

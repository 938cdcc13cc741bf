"""Servers: what the pages say of their state, and asking them now."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from banks import jobs
from banks.models import Bank, Job, Role, Server, Write
from tests import factories
from tests.banks.admin_pages import SignIn, get, post, text_after, url
from tests.banks.conftest import LyingTransport
from tests.conftest import People
from tests.reviews.pages import HTMX, XSS, assert_harmless, text_of

PAGES = ["server-detail", "server-edit", "server-key", "server-members"]


def of_health(server: Server, health: str, text: str = "", **values: object) -> Server:
    Server.objects.filter(pk=server.pk).update(health=health, health_text=text, last_checked=timezone.now(), **values)
    server.refresh_from_db()
    return server


def test_the_list_shows_each_server_with_its_state(server: Server, bank: Bank, people: People, as_user: SignIn) -> None:
    of_health(server, "ok", api_version="1.1.0")
    far = factories.make_server(name="far away", base_url="https://far.example.org")
    of_health(
        far, "unreachable", "Connection refused.", failures=5, closed_until=timezone.now() + timedelta(seconds=50)
    )
    Write.objects.create(kind="delete", bank=bank, via="web", slot="a")
    Write.objects.create(kind="delete", bank=bank, via="web", slot="b", state="attention")
    Write.objects.create(kind="delete", bank=bank, via="web", slot="c", state="done")
    page = text_of(get(as_user(people.operator), "server-list"))
    for said in (server.name, server.base_url, "1.1.0", "far away", "Connection refused.", "next try in", "1 need a"):
        assert said in page, said


def test_an_admin_of_a_server_sees_that_server_alone(server: Server, people: People, as_user: SignIn) -> None:
    factories.make_server(name="somebody else's")
    factories.grant(people.owner, server, Role.ADMIN)
    page = text_of(get(as_user(people.owner), "server-list"))
    assert server.name in page
    assert "somebody else" not in page
    assert "Add a server" not in page


@pytest.mark.parametrize(
    ("health", "said"),
    [
        ("unknown", "It has not been asked yet."),
        ("degraded", "Look at its own log."),
        ("unreachable", "Nothing is lost: decisions are stored"),
        ("refused", "Replace the key."),
    ],
)
def test_each_state_says_what_to_do(server: Server, people: People, as_user: SignIn, health: str, said: str) -> None:
    of_health(server, health, "What the server said.")
    page = text_of(get(as_user(people.operator), "server-detail", server.pk))
    assert said in page
    assert "What the server said." in page


def test_an_old_answer_is_said_to_be_old(server: Server, people: People, as_user: SignIn) -> None:
    of_health(server, "ok")
    client = as_user(people.operator)
    assert "This is old." not in text_of(get(client, "server-detail", server.pk))
    Server.objects.update(last_checked=timezone.now() - timedelta(minutes=6))
    assert "This is old." in text_of(get(client, "server-detail", server.pk))


def test_what_a_server_offers_its_other_addresses_and_how_long_it_is_waited_for(
    server: Server, people: People, as_user: SignIn
) -> None:
    client = as_user(people.operator)
    assert "<dt>Offers</dt><dd>unknown</dd>" in text_of(get(client, "server-detail", server.pk))
    features = {"observations": True, "audit_log": False, XSS: True}
    Server.objects.update(features=features, other_urls=["http://memory.lan:8888"], connect_timeout=2.5)
    page = text_of(get(client, "server-detail", server.pk))
    offers, _, offers_not = page.partition("<dt>Offers</dt>")[2].partition("<dt>Does not offer</dt>")
    assert "observations" in offers
    assert "audit_log" in offers_not.partition("</dd>")[0]
    assert "http://memory.lan:8888" in page
    assert "2.5 s for a connection, 30 s for an answer" in page
    assert_harmless(page)


def test_a_key_that_travels_readable_is_said(server: Server, people: People, as_user: SignIn) -> None:
    server.api_key = "k"
    server.save()
    client = as_user(people.operator)
    assert "travels readable" in text_of(get(client, "server-detail", server.pk))
    Server.objects.update(base_url="http://127.0.0.1:8888")
    assert "travels readable" not in text_of(get(client, "server-detail", server.pk))


def test_asking_is_work_for_a_worker_and_the_page_waits_for_its_row(
    server: Server, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    client = as_user(people.operator)
    page = text_after(client, post(client, "server-ask", server.pk))
    assert line.calls == []  # not in the request
    assert "Waiting for a worker" in page
    assert "Look again" in page  # without a script
    job = Job.objects.get(kind="ask-server")
    waiting = client.get(url("server-detail", server.pk), headers=HTMX)
    assert (waiting.status_code, "hx-trigger" in text_of(waiting)) == (200, True)
    assert jobs.run(job.pk) == "done"
    ended = client.get(url("server-detail", server.pk), headers=HTMX)
    assert (ended.status_code, "hx-trigger" in text_of(ended)) == (286, False)
    assert 'id="server-health" hx-swap-oob="true"' in text_of(ended)  # the head of the page says the same
    server.refresh_from_db()
    assert server.health == "ok"


def test_asking_reads_and_creates_no_bank(
    server: Server, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    Bank.objects.create(server=server, bank_id="ours-alone", bank_hash=Bank.hash_of("ours-alone"))
    post(as_user(people.operator), "server-ask", server.pk)
    assert jobs.run(Job.objects.get().pk) == "done"
    assert {method for method, _ in line.calls} == {"GET"}
    assert not [path for _, path in line.calls if "ours-alone" in path or "profile" in path]
    assert Bank.objects.get(bank_id="ours-alone").gone_since is not None


def test_asking_twice_is_one_question(server: Server, people: People, as_user: SignIn) -> None:
    client = as_user(people.operator)
    post(client, "server-ask", server.pk)
    answer = client.post(url("server-ask", server.pk), headers=HTMX)
    assert Job.objects.filter(kind="ask-server").count() == 1
    assert "<html" not in text_of(answer)
    assert "Waiting for a worker" in text_of(answer)


def test_the_list_costs_the_same_with_many_servers(server: Server, people: People, as_user: SignIn) -> None:
    client = as_user(people.operator)
    with CaptureQueriesContext(connection) as few:
        get(client, "server-list")
    for number in range(30):
        bank = factories.make_bank(f"bank {number}")
        Write.objects.create(kind="delete", bank=bank, via="web", slot=str(number))
        factories.grant(people.viewer, bank, Role.VIEWER)
    with CaptureQueriesContext(connection) as many:
        get(client, "server-list")
    assert len(few) == len(many)


def test_what_a_server_is_called_and_says_never_becomes_markup(people: People, as_user: SignIn) -> None:
    server = of_health(factories.make_server(name=XSS[:100]), "degraded", XSS, api_version=XSS[:50])
    client = as_user(people.operator)
    post(client, "server-pause", server.pk, reason=XSS)
    for name in ("server-list", *PAGES):
        assert_harmless(text_of(get(client, name, None if name == "server-list" else server.pk)))

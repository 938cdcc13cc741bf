"""“Read the numbers now”: a job that reads the banks of who asked, and a page that never waits for a server."""

from datetime import timedelta

import httpx
import pytest
from django.test import Client
from django.utils import timezone

from banks import connections, jobs
from banks.demo import DemoServer, DemoTransport
from banks.models import Bank, Job, Membership, Role, Server
from tests import factories
from tests.banks.admin_pages import SignIn, get, post, text_after, url
from tests.banks.conftest import LyingTransport
from tests.conftest import People
from tests.reviews.pages import HTMX, XSS, assert_harmless, text_of

pytestmark = pytest.mark.django_db(transaction=True)


def the_job() -> Job:
    return Job.objects.get(kind="read-numbers")


def test_it_is_work_for_a_worker_and_the_page_waits_for_its_row(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    client = as_user(people.viewer)
    page = text_after(client, post(client, "bank-refresh"))
    assert line.calls == []  # not in the request
    assert "Waiting for a worker" in page
    assert "Look again" in page  # without a script
    waiting = client.get(url("bank-list"), headers=HTMX)
    assert (waiting.status_code, "hx-trigger" in text_of(waiting), "<html" in text_of(waiting)) == (200, True, False)
    assert jobs.run(the_job().pk) == "done"
    ended = client.get(url("bank-list"), headers=HTMX)
    assert (ended.status_code, "hx-trigger" in text_of(ended)) == (286, False)
    assert "1 bank was read" in text_of(ended)
    assert {method for method, _ in line.calls} == {"GET"}
    assert the_job().result == {"read": 1, "unread": 0}
    assert 'data-label="Documents">1<' in text_of(get(client, "bank-list"))


def test_asked_twice_it_is_one_work(bank: Bank, people: People, as_user: SignIn) -> None:
    client = as_user(people.viewer)
    post(client, "bank-refresh")
    answer = client.post(url("bank-refresh"), headers=HTMX)
    assert "<html" not in text_of(answer)
    assert Job.objects.count() == 1


def test_who_sees_no_bank_can_have_none_read(bank: Bank, people: People, as_user: SignIn) -> None:
    assert post(as_user(people.stranger), "bank-refresh").status_code == 404
    assert post(Client(), "bank-refresh").status_code == 302
    assert get(as_user(people.owner), "bank-refresh").status_code == 405
    assert not Job.objects.exists()


def test_ones_own_banks_are_read_and_of_those_what_the_list_shows(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    with connections.client_for(bank.server) as client:
        client.put_bank("mine")
        client.put_bank("foreign")
    mine = factories.make_bank("mine", server=bank.server)
    factories.make_bank("foreign", server=bank.server)
    factories.grant(people.viewer, mine, Role.VIEWER)
    line.calls.clear()
    as_user(people.viewer).post(f"{url('bank-refresh')}?q=min")
    assert jobs.run(the_job().pk) == "done"
    asked = {path.split("/")[4].partition("?")[0] for _, path in line.calls if path.count("/") > 4}
    assert asked == {"mine"}


def test_a_right_that_was_taken_meanwhile_reads_nothing(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    post(as_user(people.viewer), "bank-refresh")
    Membership.objects.filter(user=people.viewer).delete()
    assert jobs.run(the_job().pk) == "done"
    assert the_job().result == {"read": 0, "unread": 0}
    assert line.calls == []


def test_what_could_not_be_read_is_named_and_the_others_are_read(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    far = factories.make_bank("far", name=XSS[:100])
    refused = factories.make_bank("locked", server=bank.server)
    with connections.client_for(bank.server) as demo:
        demo.put_bank("locked")

    def answer(request: httpx.Request) -> httpx.Response:
        locked = "/locked/" in request.url.path
        return httpx.Response(403, json={"detail": XSS}) if locked else line.handle_request(request)

    connections.TRANSPORTS[bank.server.base_url] = httpx.MockTransport(answer)
    connections.TRANSPORTS[far.server.base_url] = DemoTransport(DemoServer(None, api_key="another"))
    client = as_user(people.operator)
    post(client, "bank-refresh")
    try:
        assert jobs.run(the_job().pk) == "done"
    finally:
        del connections.TRANSPORTS[far.server.base_url]
    assert the_job().result == {"read": 1, "unread": 2}
    page = text_of(get(client, "bank-list"))
    assert_harmless(page)
    assert "2 could not be; their numbers are those of before." in page
    bank.refresh_from_db()
    refused.refresh_from_db()
    assert (bank.document_count, refused.document_count) == (1, None)
    assert Server.objects.get(pk=bank.server_id).health != Server.Health.REFUSED
    assert Server.objects.get(pk=far.server_id).health == Server.Health.REFUSED


def test_a_server_that_is_left_alone_is_not_asked(
    bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    Server.objects.update(closed_until=timezone.now() + timedelta(seconds=50), failures=3)
    post(as_user(people.viewer), "bank-refresh")
    assert jobs.run(the_job().pk) == "done"
    assert line.calls == []
    assert "does not answer" in the_job().items.get().reason
    assert bank.numbers.failures == 0  # it is no fault of the bank

"""A server's key: stored encrypted; never shown, logged or kept in words; refused ones are said to be that."""

import httpx
import pytest

from banks import connections, jobs
from banks.models import AdminEvent, Job, Server
from banks.services.probe import probe
from tests.banks.admin_pages import SignIn, events, get, post, text_after, url
from tests.banks.conftest import LyingTransport
from tests.conftest import People
from tests.reviews.pages import text_of

SECRET = "hsk-9f2c41d0-do-not-show"


def test_a_key_is_replaced_and_tried(
    server: Server, line: LyingTransport, people: People, as_user: SignIn, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    Server.objects.filter(pk=server.pk).update(health="refused", health_text="HTTP 401", failures=4)
    client = as_user(people.operator)
    answer = post(client, "server-key", server.pk, key=f" {SECRET}\n")
    pages = [
        text_after(client, answer),
        *(text_of(get(client, name, server.pk)) for name in ("server-key", "server-edit")),
    ]
    server.refresh_from_db()
    assert (server.api_key, server.health, server.failures) == (SECRET, "unknown", 0)
    assert events() == [("key-replaced", "root", server.name)]
    jobs.run(Job.objects.get().pk)
    kept = [str(row) for model in (AdminEvent, Job, Server) for row in model.objects.values()]
    for text in (*pages, *kept, str(answer.headers), str(client.cookies), caplog.text):
        assert SECRET not in text


def test_an_empty_key_keeps_the_stored_one(server: Server, people: People, as_user: SignIn) -> None:
    server.api_key = SECRET
    server.save()
    client = as_user(people.operator)
    assert "was kept" in text_after(client, post(client, "server-key", server.pk, key="  "))
    server.refresh_from_db()
    assert (server.api_key, events()) == (SECRET, [])


def test_no_key_is_said_expressly(server: Server, people: People, as_user: SignIn) -> None:
    server.api_key = SECRET
    server.save()
    client = as_user(people.operator)
    post(client, "server-key", server.pk, key="", none="on")
    server.refresh_from_db()
    assert (server.api_key, server.api_key_encrypted) == ("", "")
    assert AdminEvent.objects.get().after == {"key": "none"}


@pytest.mark.parametrize("values", [{"key": f"{SECRET} x"}, {"key": f"{SECRET}é"}, {"key": SECRET, "none": "on"}])
def test_a_refused_key_is_not_repeated(
    server: Server, people: People, as_user: SignIn, values: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    answer = as_user(people.operator).post(url("server-key", server.pk), values)
    assert answer.status_code == 422
    assert SECRET not in text_of(answer)
    assert SECRET not in caplog.text
    server.refresh_from_db()
    assert (server.api_key, events()) == ("", [])


def test_a_key_of_a_lost_encryption_key_is_replaced(server: Server, people: People, as_user: SignIn) -> None:
    Server.objects.filter(pk=server.pk).update(api_key_encrypted="not a token")
    assert post(as_user(people.operator), "server-key", server.pk, key=SECRET).status_code == 303
    server.refresh_from_db()
    assert server.api_key == SECRET


def test_a_refused_key_is_shown_as_that(server: Server, people: People, as_user: SignIn) -> None:
    answers = httpx.MockTransport(lambda request: httpx.Response(401, json={"detail": f"bad key {SECRET}"}))
    connections.TRANSPORTS[server.base_url] = answers
    server.api_key = SECRET
    server.save()
    try:
        probe(server)
    finally:
        del connections.TRANSPORTS[server.base_url]
    page = text_of(get(as_user(people.operator), "server-detail", server.pk))
    assert "key refused" in page
    assert f'href="{url("server-key", server.pk)}"' in page
    assert SECRET not in page


def test_a_redirect_to_another_server_is_not_followed(server: Server, people: People, as_user: SignIn) -> None:
    asked: list[httpx.Request] = []

    def elsewhere(request: httpx.Request) -> httpx.Response:
        asked.append(request)
        return httpx.Response(302, headers={"location": "http://evil.example/version"})

    connections.TRANSPORTS[server.base_url] = httpx.MockTransport(elsewhere)
    post(as_user(people.operator), "server-ask", server.pk)
    try:
        jobs.run(Job.objects.get().pk)
    finally:
        del connections.TRANSPORTS[server.base_url]
    assert {request.url.host for request in asked} == {httpx.URL(server.base_url).host}
    page = text_of(get(as_user(people.operator), "server-detail", server.pk))
    assert "A redirect to another server; it was not followed." in page

"""Servers: registering one, and its settings afterwards."""

import pytest
from django.conf import LazySettings
from django.test import Client

from banks.models import AdminEvent, Job, Role, Server
from tests import factories
from tests.banks.admin_pages import SignIn, events, get, text_after, url
from tests.conftest import People
from tests.reviews.pages import Reader, text_of

SECRET = "hsk-9f2c41d0-do-not-show"
NEW = {
    "name": "Main",
    "address": "https://Memory.Example.org:443/",
    "namespace": "default",
    "key": SECRET,
    "other": "http://memory.internal:8888\nhttp://10.0.0.7:8888/",
    "connect_timeout": "5",
    "read_timeout": "30",
}


def shown(client: Client, server: Server) -> dict[str, str]:
    """The settings form as it stands on the page."""
    page = text_of(get(client, "server-edit", server.pk))
    hidden = {a["name"]: a["value"] for tag, a in Reader(page).elements if tag == "input" and a.get("name") == "shown"}
    return {
        "name": server.name,
        "other": "\r\n".join(server.other_urls),
        "connect_timeout": "5",
        "read_timeout": "30",
        **hidden,  # type: ignore[dict-item]  # it has a value
    }


def test_a_server_is_registered_and_asked(people: People, as_user: SignIn) -> None:
    client = as_user(people.operator)
    page = text_after(client, client.post(url("server-new"), NEW))
    server = Server.objects.get(name="Main")
    assert server.addresses == ["https://memory.example.org", "http://memory.internal:8888", "http://10.0.0.7:8888"]
    assert server.api_key == SECRET
    assert SECRET not in server.api_key_encrypted
    assert "is being asked" in page
    assert Job.objects.get().params == {"server": server.pk}
    assert events() == [("server-added", "root", "Main")]
    assert AdminEvent.objects.get().after["key"] == "set"


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("memory.example.org", "begins with http:// or https://"),
        ("ftp://memory.example.org", "begins with http:// or https://"),
        ("https://ann:secret-word@memory.example.org", "no user name and no password"),
        ("https://memory.example.org/?q=1", "has no query"),
        ("http://127.1:8888", "four plain numbers"),
        ("javascript:alert(1)", "begins with"),
        ("", "required"),
    ],
)
def test_what_is_no_address_is_refused(people: People, as_user: SignIn, address: str, said: str) -> None:
    for field in ("address", "other"):
        if not address and field == "other":
            continue
        answer = as_user(people.operator).post(url("server-new"), {**NEW, field: address})
        assert (answer.status_code, Server.objects.count()) == (422, 1)
        assert said in text_of(answer)
        assert "secret-word" not in text_of(answer)


@pytest.mark.parametrize("field", ["address", "other"])
@pytest.mark.parametrize("taken", ["base_url", "other_urls"])
def test_an_address_is_one_servers(server: Server, people: People, as_user: SignIn, field: str, taken: str) -> None:
    same = "http://memory.example.org:80"
    Server.objects.update(**{taken: "http://memory.example.org" if taken == "base_url" else [same]})
    client = as_user(people.operator)
    answer = client.post(url("server-new"), {**NEW, field: "HTTP://memory.Example.org/"})
    assert answer.status_code == 422
    assert f"It is “{server.name}”" in text_of(answer)
    for other in (
        "https://memory.example.org",
        "http://memory.example.org.evil.example",
        "http://memory.example.org:81",
    ):
        answer = client.post(url("server-new"), {**NEW, "name": other, "address": other, "other": ""})
        assert answer.status_code == 303, other


def test_another_namespace_of_the_same_address_is_another_server(
    server: Server, people: People, as_user: SignIn
) -> None:
    values = {**NEW, "address": server.base_url, "other": ""}
    client = as_user(people.operator)
    assert client.post(url("server-new"), values).status_code == 422
    for namespace in ("..", "a/b", "a b", ".hidden"):
        assert client.post(url("server-new"), {**values, "namespace": namespace}).status_code == 422, namespace
    assert client.post(url("server-new"), {**values, "namespace": "team-b"}).status_code == 303


def test_names_are_not_shared(server: Server, people: People, as_user: SignIn) -> None:
    answer = as_user(people.operator).post(url("server-new"), {**NEW, "name": server.name.upper()})
    assert answer.status_code == 422
    assert "Another server has this name." in text_of(answer)


def test_a_refused_form_keeps_everything_but_the_key(people: People, as_user: SignIn) -> None:
    page = text_of(as_user(people.operator).post(url("server-new"), {**NEW, "read_timeout": "nan"}))
    assert 'value="Main"' in page
    assert "memory.internal" in page
    assert SECRET not in page
    assert "type it once more" in page


def test_the_demo_takes_no_real_server(people: People, as_user: SignIn, settings: LazySettings) -> None:
    settings.DEMO = True
    client = as_user(people.operator)
    assert "Add a server" not in text_of(get(client, "server-list"))
    answer = client.post(url("server-new"), NEW)
    assert (answer.status_code, "This is the demo." in text_of(answer)) == (422, True)
    assert Server.objects.count() == 1


# ── settings ───────────────────────────────────────────────────────────────────────────────────────────────


def test_an_admin_of_the_server_changes_its_settings(server: Server, people: People, as_user: SignIn) -> None:
    factories.grant(people.owner, server, Role.ADMIN)
    client = as_user(people.owner)
    values = {**shown(client, server), "name": "Better name", "read_timeout": "12.5", "other": "http://alias:8888"}
    was = server.name
    assert "Stored." in text_after(client, client.post(url("server-edit", server.pk), values))
    server.refresh_from_db()
    assert (server.name, server.read_timeout, server.other_urls) == ("Better name", 12.5, ["http://alias:8888"])
    event = AdminEvent.objects.get()
    assert event.before == {"name": was, "other_urls": [], "read_timeout": 30.0}
    assert event.after == {"name": "Better name", "other_urls": ["http://alias:8888"], "read_timeout": 12.5}


def test_what_new_banks_get_is_a_setting_that_is_off_at_first(server: Server, people: People, as_user: SignIn) -> None:
    client = as_user(people.operator)
    assert server.seed_new_banks == ""
    page = text_after(
        client, client.post(url("server-edit", server.pk), {**shown(client, server), "seed_new_banks": "per-project"})
    )
    server.refresh_from_db()
    assert server.seed_new_banks == "per-project"
    assert "Stored." in page
    answer = client.post(url("server-edit", server.pk), {**shown(client, server), "seed_new_banks": "everywhere"})
    assert answer.status_code == 422


def test_saving_without_a_change_is_no_event(server: Server, people: People, as_user: SignIn) -> None:
    Server.objects.filter(pk=server.pk).update(other_urls=["http://a.example", "http://b.example"])
    server.refresh_from_db()
    client = as_user(people.operator)
    answer = client.post(url("server-edit", server.pk), shown(client, server))
    assert "Nothing was different." in text_after(client, answer)
    assert events() == []


def test_of_two_who_edit_the_second_is_shown_what_the_first_did(
    server: Server, people: People, as_user: SignIn
) -> None:
    client = as_user(people.operator)
    mine = {**shown(client, server), "read_timeout": "60"}
    client.post(url("server-edit", server.pk), {**shown(client, server), "name": "Theirs"})
    answer = client.post(url("server-edit", server.pk), mine)
    assert answer.status_code == 409
    assert "Nothing of yours was stored." in text_of(answer)
    assert 'value="60"' in text_of(answer)
    assert "Theirs" in text_of(answer).partition("h-changes")[2]  # and who did it
    server.refresh_from_db()
    assert (server.name, server.read_timeout) == ("Theirs", 30.0)


def test_an_address_cannot_be_taken_from_another_server(server: Server, people: People, as_user: SignIn) -> None:
    other = factories.make_server(name="unseen", other_urls=["http://alias.example"])
    factories.grant(people.owner, server, Role.ADMIN)
    client = as_user(people.owner)
    for address in ("http://ALIAS.example:80", other.base_url, server.base_url):
        answer = client.post(url("server-edit", server.pk), {**shown(client, server), "other": address})
        assert answer.status_code == 422, address
        assert "unseen" not in text_of(answer)  # nor is it told whose it is
    assert events() == []

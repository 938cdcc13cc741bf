"""Servers: pausing and resuming their writes, removing them; who may, and who is told what."""

import pytest
from django.test import Client
from django.utils import timezone

from banks.models import AdminEvent, Bank, Job, Role, Server, Write
from banks.writes import worker
from tests import factories
from tests.banks.admin_pages import WHY, SignIn, events, get, post, text_after
from tests.banks.conftest import LyingTransport
from tests.conftest import People
from tests.reviews.pages import text_of

PAGES = ["server-detail", "server-edit", "server-key", "server-members"]
POSTS = ["server-ask", "server-pause", "server-resume", "server-remove", "server-member-add"]


def test_paused_writes_wait_in_sight_and_go_on(
    server: Server, bank: Bank, line: LyingTransport, people: People, as_user: SignIn
) -> None:
    client = as_user(people.operator)
    page = text_after(client, post(client, "server-pause", server.pk, **WHY))
    assert "Writes to this server are paused" in page
    assert "The database is being moved." in page
    write = Write.objects.create(kind="delete", bank=bank, via="web", slot="a", document_id="notes/a.md")
    assert worker.run(write.pk) == "server closed"
    assert line.calls == []
    assert "1 write waits; nothing is lost." in text_of(get(client, "server-detail", server.pk))
    assert "writes paused" in text_of(as_user(people.viewer).get("/"))  # whoever may see the server
    page = text_after(client, post(client, "server-resume", server.pk, reason="It has moved."))
    assert "are paused" not in page
    Write.objects.update(not_before=timezone.now())
    assert worker.run(write.pk) == "done"
    assert events() == [("writes-paused", "root", server.name), ("writes-resumed", "root", server.name)]
    assert [event.reason for event in AdminEvent.objects.order_by("pk")] == [WHY["reason"], "It has moved."]


def test_a_pause_says_why(server: Server, people: People, as_user: SignIn) -> None:
    client = as_user(people.operator)
    for reason in ("", "  ", "x"):
        assert "Nothing was changed." in text_after(client, post(client, "server-pause", server.pk, reason=reason))
    server.refresh_from_db()
    assert (server.writes_paused, events()) == (False, [])


def test_pausing_twice_is_one_pause(server: Server, people: People, as_user: SignIn) -> None:
    client = as_user(people.operator)
    post(client, "server-pause", server.pk, **WHY)
    assert "somebody was quicker" in text_after(client, post(client, "server-pause", server.pk, **WHY))
    assert len(events()) == 1


def test_a_server_without_history_is_forgotten_with_its_roles(people: People, as_user: SignIn) -> None:
    server = factories.make_server(name="a mistake")
    factories.grant(people.viewer, factories.make_bank(server=server), Role.VIEWER)
    client = as_user(people.operator)
    page = text_after(client, post(client, "server-remove", server.pk, name="a mistake"))
    assert "no longer registered" in page
    assert not Server.objects.filter(name="a mistake").exists()
    event = AdminEvent.objects.get()
    assert (event.what, event.server, event.server_name, event.before["banks"]) == (
        "server-removed",
        None,
        "a mistake",
        1,
    )
    assert "Server removed" in page  # it is still told


@pytest.mark.parametrize("kind", ["write", "entry"])
def test_what_has_a_history_stays(server: Server, bank: Bank, people: People, as_user: SignIn, kind: str) -> None:
    if kind == "write":
        Write.objects.create(kind="approve", bank=bank, via="web", state="done")
    else:
        factories.make_entry(bank)
    client = as_user(people.operator)
    assert "It cannot be removed" in text_of(get(client, "server-detail", server.pk))
    page = text_after(client, post(client, "server-remove", server.pk, name=server.name))
    assert "kept for ever" in page
    assert Server.objects.filter(pk=server.pk).exists()
    assert events() == []


def test_removing_wants_the_name_typed(people: People, as_user: SignIn) -> None:
    server = factories.make_server(name="precious")
    client = as_user(people.operator)
    for name in ("", "Precious", "precious2"):
        assert "Nothing was removed." in text_after(client, post(client, "server-remove", server.pk, name=name))
    assert Server.objects.filter(name="precious").exists()


@pytest.mark.parametrize("name", ["server-list", *PAGES])
def test_members_are_refused_and_strangers_see_nothing(
    server: Server, people: People, as_user: SignIn, name: str
) -> None:
    pk = None if name == "server-list" else server.pk
    for person in (people.owner, people.reviewer, people.viewer):  # of a bank, not of the server
        refused = get(as_user(person), name, pk)
        assert refused.status_code == 403
        assert pk is None or "You can read this server, but not administer it." in text_of(refused)
    assert get(as_user(people.stranger), name, pk).status_code == 404
    assert get(Client(), name, pk).status_code == 302
    factories.grant(people.owner, server, Role.ADMIN)
    assert get(as_user(people.owner), name, pk).status_code == 200


@pytest.mark.parametrize("name", POSTS)
def test_only_admins_of_the_server_change_it(server: Server, people: People, as_user: SignIn, name: str) -> None:
    factories.grant(people.viewer, server, Role.REVIEWER)
    values = {**WHY, "name": server.name}
    for person in (people.owner, people.reviewer, people.viewer):
        assert post(as_user(person), name, server.pk, **values).status_code == 403
    assert post(as_user(people.stranger), name, server.pk, **values).status_code == 404
    server.refresh_from_db()
    assert (server.writes_paused, Job.objects.count(), events()) == (False, 0, [])


def test_only_operators_add_and_remove(server: Server, people: People, as_user: SignIn) -> None:
    factories.grant(people.owner, server, Role.ADMIN)
    client = as_user(people.owner)
    assert get(client, "server-new").status_code == 403
    assert post(client, "server-new", name="x", address="http://x.example").status_code == 403
    assert post(client, "server-remove", server.pk, name=server.name).status_code == 403
    assert Server.objects.count() == 1


@pytest.mark.parametrize("name", POSTS)
def test_changes_are_posts_that_come_from_our_pages(server: Server, people: People, name: str) -> None:
    client = Client(enforce_csrf_checks=True)
    client.force_login(people.operator)
    assert get(client, name, server.pk).status_code == 405
    assert post(client, name, server.pk, **WHY, name=server.name).status_code == 403
    server.refresh_from_db()
    assert (server.writes_paused, Job.objects.count()) == (False, 0)

"""Notifications to a team's address: signed, once a day, tried again by rows, and nothing in them that is secret."""

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.test import Client
from django.utils import timezone

from banks.models import AdminEvent, Bank, Role, Server
from banks.webhooks import signing
from memadmin import outgoing as wire
from reviews.models import OutgoingDelivery, OutgoingHook
from reviews.services import outgoing
from tests import factories
from tests.conftest import People
from tests.reviews.outgoing import SECRET, make_outgoing
from tests.reviews.pages import text_of

State = OutgoingDelivery.State
Sent = list[tuple[str, dict[str, str], bytes]]
FORM = {"name": "Team room", "url": "https://chat.example.org/k3y", "digest": "on", "hour": "8", "time_zone": "UTC"}


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel("2026-03-16T10:00:00Z", tick=False) as traveller:
        yield traveller


@pytest.fixture
def answers() -> list[int | Exception]:
    """What the address says, in turn; 200 at last."""
    return []


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch, answers: list[int | Exception]) -> Sent:
    calls: Sent = []

    def post(url: str, *, headers: dict[str, str], body: bytes) -> tuple[int, float]:
        calls.append((url, headers, body))
        answer = answers.pop(0) if answers else 200
        if isinstance(answer, Exception):
            raise answer
        return answer, 0.1

    monkeypatch.setattr(wire, "post", post)
    return calls


@pytest.fixture
def hook(clock: time_machine.Traveller, bank: Bank, sent: Sent) -> OutgoingHook:
    """At eight the next morning; one memory waits there, and has less than a day left then."""
    factories.make_entry(bank, "secret/doc.md", text="hunter2", expires_at=timezone.now() + timedelta(hours=30))
    return make_outgoing(bank.server)


def turn() -> int:
    outgoing.plan()
    return outgoing.send_due()


def test_each_message_goes_out_once_a_day_and_is_signed(
    hook: OutgoingHook, bank: Bank, sent: Sent, clock: time_machine.Traveller
) -> None:
    clock.move_to("2026-03-17T07:59:00Z")
    assert turn() == 0
    clock.move_to("2026-03-17T08:00:00Z")
    assert [turn(), turn()] == [2, 0]
    for url, headers, raw in sent:
        assert url == hook.url
        version = signing.check(SECRET, raw, v1="", v2=headers["X-Memadmin-Signature"], now=timezone.now().timestamp())
        said = json.loads(raw)
        assert (version, said["event_id"], said["event"]) == (
            "v2",
            headers["X-Memadmin-Event-Id"],
            headers["X-Memadmin-Event"],
        )
        assert (said["day"], said["pending"], said["soon"]) == ("2026-03-17", 1, 1)
        assert said["banks"] == [{"name": "Checkout service", "pending": 1, "soon": 1, "held": 0}]
        assert b"hunter2" not in raw
        assert b"secret/doc.md" not in raw
    assert {row.state for row in OutgoingDelivery.objects.all()} == {State.SENT}


def test_a_persons_bank_is_in_nobodys_message(
    hook: OutgoingHook, bank: Bank, sent: Sent, clock: time_machine.Traveller
) -> None:
    Bank.objects.update(kind=Bank.Kind.PERSON)
    clock.move_to("2026-03-17T08:00:00Z")
    assert turn() == 0
    assert sent == []
    assert {row.state for row in OutgoingDelivery.objects.all()} == {State.EMPTY}


def test_what_failed_is_tried_again_with_the_same_body(
    hook: OutgoingHook, bank: Bank, sent: Sent, answers: list[int | Exception], clock: time_machine.Traveller
) -> None:
    OutgoingHook.objects.update(soon=False)
    answers += [500, wire.NotSent("No answer came in time."), 302]
    clock.move_to("2026-03-17T08:00:00Z")
    assert turn() == 0
    assert turn() == 0  # not before its pause is over
    factories.make_entry(bank)
    for _ in range(3):
        clock.shift(timedelta(minutes=10))
        turn()
    assert len({(headers["X-Memadmin-Event-Id"], raw) for _, headers, raw in sent}) == 1
    assert len({headers["X-Memadmin-Signature"] for _, headers, _ in sent}) == len(sent) == 4
    row = OutgoingDelivery.objects.get()
    assert (row.state, row.attempts, row.status, row.error) == (State.SENT, 4, 200, "")


@pytest.mark.parametrize("answer", [410, wire.Blocked("The host is on this machine or in a private network.")])
def test_what_cannot_get_better_is_not_tried_again(
    hook: OutgoingHook, sent: Sent, answers: list[int | Exception], clock: time_machine.Traveller, answer: Any
) -> None:
    OutgoingHook.objects.update(soon=False)
    answers.append(answer)
    clock.move_to("2026-03-17T08:00:00Z")
    turn()
    clock.shift(timedelta(hours=2))
    turn()
    assert (len(sent), OutgoingDelivery.objects.get().state) == (1, State.FAILED)


def test_after_many_tries_it_is_given_up(
    hook: OutgoingHook, sent: Sent, answers: list[int | Exception], clock: time_machine.Traveller
) -> None:
    OutgoingHook.objects.update(soon=False)
    answers += [503] * 100
    clock.move_to("2026-03-17T08:00:00Z")
    for _ in range(outgoing.MOST_ATTEMPTS + 2):
        turn()
        clock.shift(timedelta(hours=1, minutes=1))
    row = OutgoingDelivery.objects.get()
    assert (len(sent), row.state, row.status) == (outgoing.MOST_ATTEMPTS, State.FAILED, 503)


def test_two_workers_try_once_and_a_killed_one_is_followed(
    hook: OutgoingHook, sent: Sent, clock: time_machine.Traveller
) -> None:
    OutgoingHook.objects.update(soon=False)
    clock.move_to("2026-03-17T08:00:00Z")
    outgoing.plan()
    row = OutgoingDelivery.objects.get()
    OutgoingDelivery.objects.update(claimed_until=timezone.now() + outgoing.CLAIM)
    assert outgoing.send(row.pk) == "not due"
    clock.shift(outgoing.CLAIM + timedelta(seconds=1))
    assert outgoing.send(row.pk) == "sent"


def test_an_admin_of_the_server_adds_and_removes_one(
    bank: Bank, people: People, as_user: Callable[..., Client], sent: Sent
) -> None:
    factories.grant(people.owner, bank.server, Role.ADMIN)
    client, url = as_user(people.owner), f"/servers/{bank.server.pk}/notify/"
    made = text_of(client.post(url, FORM))
    hook = OutgoingHook.objects.get()
    assert hook.secret in made
    page = text_of(client.get(url))
    assert "Team room" in page
    assert "chat.example.org" in page
    for secret in (hook.secret, "k3y"):
        assert secret not in page
        assert secret not in str(list(OutgoingHook.objects.values()))
    assert client.post(f"/outgoing/{hook.pk}/remove/").status_code == 303
    assert "None yet." in text_of(client.get(url))
    assert [event.what for event in AdminEvent.objects.order_by("pk")] == ["outgoing-added", "outgoing-removed"]
    assert "k3y" not in str(list(AdminEvent.objects.values()))
    assert sent == []  # nothing is sent in a request


@pytest.mark.parametrize(
    "change",
    [
        {"url": "ftp://x/"},
        {"url": "http://u:p@x/"},
        {"url": "http://10.0.0.1/"},
        {"url": "http://[::1]/"},
        {"digest": ""},
        {"hour": "24"},
    ],
)
def test_what_cannot_be_called_is_refused(
    bank: Bank, people: People, as_user: Callable[..., Client], change: dict[str, str]
) -> None:
    answer = as_user(people.operator).post(f"/servers/{bank.server.pk}/notify/", {**FORM, **change})
    assert answer.status_code == 422
    assert not OutgoingHook.objects.exists()


def test_it_is_for_admins_of_the_server(bank: Bank, people: People, as_user: Callable[..., Client]) -> None:
    hook = make_outgoing(Server.objects.get())
    for user, status in ((people.owner, 403), (people.viewer, 403), (people.stranger, 404)):
        client = as_user(user)
        assert client.get(f"/servers/{bank.server.pk}/notify/").status_code == status
        assert client.post(f"/servers/{bank.server.pk}/notify/", FORM).status_code == status
        assert client.post(f"/outgoing/{hook.pk}/remove/").status_code == status
    hook.refresh_from_db()
    assert hook.removed_at is None

"""What the tests of the pages about servers and people share."""

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from django.test import Client
from django.urls import reverse

from banks.models import AdminEvent, Membership

SignIn = Callable[..., Client]
WHY = {"reason": "The database is being moved."}


def url(name: str, pk: int | None = None) -> str:
    return reverse(f"banks:{name}", args=[] if pk is None else [pk])


def get(client: Client, view: str, pk: int | None = None, /, **query: Any) -> HttpResponse:
    return client.get(url(view, pk), query)  # type: ignore[return-value]


def post(client: Client, view: str, pk: int | None = None, /, **values: Any) -> HttpResponse:
    return client.post(url(view, pk), values)  # type: ignore[return-value]


def text_after(client: Client, answer: HttpResponse) -> str:
    """The page a person is sent to."""
    assert answer.status_code == 303, answer.status_code
    return client.get(answer["Location"]).content.decode()


def events() -> list[tuple[str, str, str]]:
    """(what, who did it, to whom or to what), the oldest first."""
    return [
        (event.what, event.actor_name, event.person_name or event.bank_name or event.server_name)
        for event in AdminEvent.objects.order_by("pk")
    ]


def role(member: Membership, value: int) -> dict[str, int]:
    """What the form of a member's row posts."""
    return {"was": member.role, "role": value}

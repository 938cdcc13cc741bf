"""What the tests of the form about memories share: a form as a browser posts it."""

from typing import Any
from uuid import uuid4

from django.test import Client

from banks.models import Bank
from tests.reviews.pages import Reader, text_of

NEW, SEND, TRY = "/retain/new/", "/retain/new/send/", "/retain/new/try/"
HEAD = ("document_tags", "mode", "operation_id", "project", "session_id", "wait", "form", "dry_run")


def filled(bank: Bank, *memories: str | dict[str, Any], **more: Any) -> dict[str, Any]:
    """A text is a memory of its own; `more`: fields of the request."""
    given: dict[str, Any] = {"bank": bank.pk, "form": str(uuid4()), "count": len(memories), **more}
    for number, memory in enumerate(memories):
        fields = {"content": memory} if isinstance(memory, str) else memory
        given |= {f"m{number}-{name}": value for name, value in fields.items()}
    return given


def preview(client: Client, asked: dict[str, Any]) -> str:
    """The part of the page that a browser asks for while somebody types."""
    answer = client.post(NEW, {**asked, "do": "preview"}, headers={"HX-Request": "true"})
    assert answer.status_code == 200
    return text_of(answer)


def typed(page: str) -> dict[str, str]:
    """{name: value} of the one-line fields of a page."""
    return {
        str(each["name"]): each.get("value") or ""
        for tag, each in Reader(page).elements
        if tag == "input" and each.get("name")
    }

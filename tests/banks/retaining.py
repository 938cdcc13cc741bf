"""What tests of the retain queue share: memories put in, and work done until nothing is left."""

import json
from typing import Any

import httpx
import time_machine
from django.utils import timezone

from banks import connections, retain
from banks.hindsight import DocumentRow
from banks.models import Bank, RetainItem, Write
from banks.retain import flush
from banks.writes import worker
from memadmin.accounts.models import User
from tests.banks.conftest import later

State = RetainItem.State


def put(user: User, bank: Bank, *items: str | dict[str, Any], **more: Any) -> list[RetainItem]:
    """A text is an item of its own."""
    given = [{"content": item} if isinstance(item, str) else item for item in items]
    return retain.enqueue(user=user, bank=bank, items=retain.parse(given), via=Write.Via.API, **more).items


def sent(bank: Bank) -> list[Write]:
    """The batches, in order."""
    return list(Write.objects.filter(bank=bank, kind="retain").order_by("pk"))


def flush_now(bank: Bank) -> str:
    """As if the first had waited long enough."""
    RetainItem.objects.filter(bank=bank).update(not_before=timezone.now())
    return flush.flush(bank.pk)


def drain(bank: Bank, *, rounds: int = 20) -> None:
    """Everything is due now: the clock stays as it is."""
    for _ in range(rounds):
        flush_now(bank)
        writes = Write.objects.filter(bank=bank, state__in=Write.OPEN)
        if not writes.update(not_before=timezone.now()):
            return
        for write in writes.order_by("pk"):
            worker.run(write.pk)


def work_off(bank: Bank, *, rounds: int = 80, hours: float = 0) -> None:
    """What beat and workers do, with the clock moved on to whatever is due next, until nothing is."""
    with time_machine.travel(timezone.now() + later(hours * 3600), tick=False) as clock:
        for _ in range(rounds):
            items = RetainItem.objects.filter(bank=bank, state=State.QUEUED).order_by("pk")
            writes = list(Write.objects.filter(bank=bank, state__in=Write.OPEN).order_by("pk"))
            due = [write.not_before for write in writes] + list(items.values_list("not_before", flat=True)[:1])
            if not due:
                return
            clock.move_to(max(min(due), timezone.now()) + later(0.6), tick=False)
            flush.flush(bank.pk)
            for write in Write.objects.filter(bank=bank, state__in=Write.OPEN).order_by("pk"):
                worker.run(write.pk)


def in_bank(bank: Bank) -> dict[str, DocumentRow]:
    """Every document that the bank has, by its id."""
    with connections.client_for(bank.server) as client:
        return {row.id: row for row in client.list_documents(bank.bank_id, limit=10_000).items}


def text_of(bank: Bank, document_id: str) -> str:
    with connections.client_for(bank.server) as client:
        return client.get_document(bank.bank_id, document_id).text


def states(bank: Bank) -> list[str]:
    return list(RetainItem.objects.filter(bank=bank).order_by("pk").values_list("state", flat=True))


def gives_up(bank: Bank) -> Write:
    """What waits for the bank becomes a batch that needs a person, and nothing of it was seen."""
    flush_now(bank)
    write = sent(bank)[-1]
    RetainItem.objects.filter(write=write).update(state=State.ATTENTION)
    Write.objects.filter(pk=write.pk).update(state=Write.State.ATTENTION)
    write.refresh_from_db()
    return write


class Keeping(httpx.BaseTransport):
    """Passes everything on, and keeps the retains."""

    def __init__(self, line: httpx.BaseTransport) -> None:
        self.line, self.posts = line, list[httpx.Request]()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.method == "POST" and request.url.path.endswith("/memories"):
            self.posts.append(request)
        return self.line.handle_request(request)

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """Of the retains, in order."""
        return [json.loads(request.read()) for request in self.posts]

    @property
    def texts(self) -> list[list[str]]:
        return [[item["content"] for item in body["items"]] for body in self.bodies]

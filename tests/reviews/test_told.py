"""From a webhook's delivery to the queue: the bank is read, once it is quiet, and a document is one memory."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta

import httpx
import pytest
import time_machine

from banks import connections
from banks.models import Bank, Server, Webhook, WebhookDelivery
from reviews import after_policy
from reviews.models import ReviewEntry
from reviews.services import enqueue, load, poll, told
from tests.banks.conftest import NOW, LyingTransport, line, store
from tests.banks.hooking import body_of, deliver, make_hook

__all__ = ["line"]

pytestmark = pytest.mark.django_db(transaction=True)
MINUTE = timedelta(minutes=1)
State = WebhookDelivery.State


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel(NOW, tick=False) as traveller:
        yield traveller


@pytest.fixture
def hook(clock: time_machine.Traveller, bank: Bank, line: LyingTransport) -> Webhook:
    """Of a bank whose first look was taken."""
    assert look(bank) == "watermark set"
    clock.shift(10 * MINUTE)
    return make_hook(bank)


def look(bank: Bank, at: datetime | None = None) -> str:
    Bank.objects.filter(pk=bank.pk).update(poll_after=NOW - timedelta(days=1), poll_claimed_until=None)
    return poll.poll(bank.pk)


def stored(bank: Bank, document_id: str, text: str = "Cara moved to Lyon.", number: int = 1) -> WebhookDelivery:
    """A document is retained, and its server tells."""
    store(bank, document_id, text)
    assert deliver(body_of(document_id=document_id, event_id=f"e-{document_id}-{number}")).content == b"stored\n"
    return WebhookDelivery.objects.order_by("-pk")[0]


def outcome(row: WebhookDelivery) -> str:
    row.refresh_from_db()
    return row.outcome


def test_a_new_document_opens_once_it_was_quiet(hook: Webhook, bank: Bank, clock: time_machine.Traveller) -> None:
    row = stored(bank, "notes/b.md")
    assert told.run() == 0
    clock.shift(31 * MINUTE)
    assert told.run() == 1
    entry = ReviewEntry.objects.get()
    assert (entry.document_id, entry.sources, entry.load_state) == ("notes/b.md", [enqueue.WEBHOOK], "loading")
    assert outcome(row) == "it is to be reviewed"
    assert load.load(entry.pk) == "loaded"
    assert told.run() == 0


def test_the_regular_look_doubles_nothing(hook: Webhook, bank: Bank, clock: time_machine.Traveller) -> None:
    stored(bank, "notes/b.md")
    clock.shift(31 * MINUTE)
    told.run()
    load.load(ReviewEntry.objects.get().pk)
    assert look(bank) == "0 new, 0 changed"
    assert ReviewEntry.objects.count() == 1


def test_nor_does_the_webhook_what_the_regular_look_found(
    hook: Webhook, bank: Bank, clock: time_machine.Traveller
) -> None:
    row = stored(bank, "notes/b.md")
    clock.shift(31 * MINUTE)
    assert look(bank) == "1 new, 0 changed"
    load.load(ReviewEntry.objects.get().pk)
    told.run()
    assert outcome(row) == told.KNOWN
    assert ReviewEntry.objects.get().sources == [enqueue.SOURCE]


def test_a_document_that_goes_on_is_waited_for(hook: Webhook, bank: Bank, clock: time_machine.Traveller) -> None:
    row = stored(bank, "session")
    clock.shift(20 * MINUTE)
    store(bank, "session", "Cara moved to Lyon, and then to Nantes.")  # of this nobody tells
    clock.shift(11 * MINUTE)
    assert told.run() == 1
    row.refresh_from_db()
    assert (row.state, row.claimed_until, row.attempts) == (State.WAITING, None, 0)
    assert not ReviewEntry.objects.exists()
    clock.shift(20 * MINUTE)
    told.run()
    assert ReviewEntry.objects.count() == 1


def test_a_claim_about_a_document_that_is_not_there_opens_nothing(
    hook: Webhook, bank: Bank, clock: time_machine.Traveller
) -> None:
    deliver(body_of(document_id="made/up.md"))
    clock.shift(31 * MINUTE)
    told.run()
    assert WebhookDelivery.objects.get().outcome == told.GONE
    assert not ReviewEntry.objects.exists()


@pytest.mark.parametrize("document_id", ["..", ".", "a\0b", "half \ud83d", "x" * 40_000])
def test_an_id_that_no_call_can_name_ends_there(
    hook: Webhook, clock: time_machine.Traveller, line: LyingTransport, document_id: str
) -> None:
    deliver(json.dumps(body_of(document_id=document_id)).encode())
    clock.shift(31 * MINUTE)
    told.run()
    row = WebhookDelivery.objects.get()
    assert row.look_after is None
    assert not ReviewEntry.objects.exists()
    assert {method for method, _ in line.calls} <= {"GET"}


def test_what_the_bank_held_before_its_first_look_is_nobodys_work(
    hook: Webhook, bank: Bank, clock: time_machine.Traveller
) -> None:
    Bank.objects.filter(pk=bank.pk).update(watermark=NOW + timedelta(hours=1))
    row = stored(bank, "notes/b.md")
    clock.shift(31 * MINUTE)
    told.run()
    assert outcome(row) == told.OLDER
    assert not ReviewEntry.objects.exists()


def test_a_server_that_is_away_is_asked_again_and_then_no_more(
    hook: Webhook, bank: Bank, clock: time_machine.Traveller, line: LyingTransport
) -> None:
    row = stored(bank, "notes/b.md")
    connections.TRANSPORTS[bank.server.base_url] = httpx.MockTransport(
        lambda request: httpx.Response(503, json={"detail": "busy"})
    )
    for attempt in range(1, told.MOST_ATTEMPTS):
        clock.shift(31 * MINUTE)
        assert told.look(row.pk) == "failed"
        row.refresh_from_db()
        assert (row.state, row.attempts) == (State.WAITING, attempt)
    clock.shift(31 * MINUTE)
    told.look(row.pk)
    row.refresh_from_db()
    assert (row.state, row.look_after) == (State.FAILED, None)


def test_no_closed_server_is_asked(hook: Webhook, bank: Bank, clock: time_machine.Traveller) -> None:
    stored(bank, "notes/b.md")
    clock.shift(31 * MINUTE)
    Server.objects.update(health=Server.Health.REFUSED)
    assert told.due() == []


def test_two_workers_look_once(hook: Webhook, bank: Bank, clock: time_machine.Traveller) -> None:
    row = stored(bank, "notes/b.md")
    clock.shift(31 * MINUTE)
    assert told._claim(row.pk) is not None
    assert told.look(row.pk) == "not due"
    clock.shift(told.CLAIM + MINUTE)  # the first was killed
    assert told.look(row.pk) == "it is to be reviewed"


def test_turning_reviews_on_again_floods_nothing(hook: Webhook, bank: Bank, clock: time_machine.Traveller) -> None:
    """What was stored while nobody wanted to review it is what the bank held before."""
    Bank.objects.update(polled=False)
    store(bank, "notes/b.md", "Cara moved to Lyon.")
    clock.shift(timedelta(days=3))
    Bank.objects.update(polled=True)
    bank.refresh_from_db()
    after_policy.policy_changed(bank, {"polled"})
    assert look(bank) == "watermark set"
    assert not ReviewEntry.objects.exists()

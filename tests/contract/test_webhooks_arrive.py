"""The whole way with a real server: registered from the page, called over the network, looked at, in the queue."""

import uuid
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from banks.models import Bank as BankRow
from banks.models import BankNumbers, WebhookDelivery, Write
from banks.writes import run
from reviews.models import ReviewEntry
from reviews.services import poll, told
from tests import factories
from tests.contract.conftest import Bank, Target, registered, until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def bank(real_server: Target) -> Iterator[Bank]:
    with real_server.client() as client:
        bank = Bank(client, f"contract-{uuid.uuid4().hex[:12]}")
        client.put_bank(bank.id, name="Contract")
        yield bank
        client.delete_bank(bank.id)


@pytest.fixture
def row(real_server: Target, bank: Bank, live_server: Any, settings: Any) -> Iterator[BankRow]:
    """Our row for the bank, looked at once. The server reaches us as the tests do."""
    settings.PUBLIC_URL = live_server.url
    with registered(real_server, bank, settle_minutes=0) as row:
        assert poll.poll(row.pk) == "watermark set"
        yield row


@pytest.fixture
def admin(client: Client) -> Client:
    client.force_login(factories.make_user(is_superuser=True))
    return client


@pytest.fixture
def client() -> Client:  # of a person: the folder's own is one of Hindsight
    return Client()


def sent(kind: str) -> None:
    write = Write.objects.get(kind=kind)
    assert run(write.pk) == "done", write.error_text


def heard(event: str) -> WebhookDelivery:
    found = until(lambda: WebhookDelivery.objects.filter(event=event).first(), lambda row: row is not None)
    assert found is not None
    return found


def test_what_a_server_stores_is_in_the_queue_by_its_own_word(admin: Client, row: BankRow, bank: Bank) -> None:
    assert admin.post(f"/banks/{row.pk}/webhook/register/").status_code == 303
    sent("webhook-add")
    later = timezone.now() + timedelta(hours=1)
    numbers = BankNumbers.objects.create(bank=row, read_after=later)
    bank.store("notes/a", "Ann moved to Lyon. Ben stayed.")

    delivery = heard("retain.completed")
    assert (delivery.document_id, delivery.signature) == ("notes/a", "v2")
    assert told.look(delivery.pk) == "it is to be reviewed"
    entry = ReviewEntry.objects.get()
    assert (entry.document_id, entry.sources) == ("notes/a", ["webhook"])

    heard("consolidation.completed")
    numbers.refresh_from_db()
    assert numbers.read_after < later

    page = admin.get(f"/banks/{row.pk}/webhook/").content.decode()
    assert "notes/a" in page
    assert "registered" in page
    assert admin.post(f"/banks/{row.pk}/webhook/remove/").status_code == 303
    sent("webhook-remove")
    assert bank.client.list_webhooks(bank.id) == []

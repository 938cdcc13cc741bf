"""A bank's webhooks: registered, listed without their secret, removed."""

import uuid

import pytest

from banks.hindsight import Invalid, NotFound
from tests.contract.conftest import Bank

EVENTS = ["retain.completed", "consolidation.completed"]


def address() -> str:
    return f"http://127.0.0.1:9/hooks/hindsight/{uuid.uuid4().hex}"


def test_a_webhook_is_registered_listed_and_removed(bank: Bank) -> None:
    bank.client.put_bank(bank.id)
    url = address()
    made = bank.client.create_webhook(bank.id, url=url, secret="s3cret", events=EVENTS)
    assert (made.url, sorted(made.events), made.enabled) == (url, sorted(EVENTS), True)
    assert [row.id for row in bank.client.list_webhooks(bank.id)] == [made.id]
    bank.client.delete_webhook(bank.id, made.id)
    assert bank.client.list_webhooks(bank.id) == []
    with pytest.raises(NotFound) as error:
        bank.client.delete_webhook(bank.id, made.id)
    assert error.value.what == "route"  # neither the bank nor a document is said to be missing


def test_the_same_address_twice_is_two_webhooks(bank: Bank) -> None:
    bank.client.put_bank(bank.id)
    url = address()
    ids = [bank.client.create_webhook(bank.id, url=url, secret="s", events=EVENTS).id for _ in range(2)]
    assert sorted(row.id for row in bank.client.list_webhooks(bank.id)) == sorted(ids)


@pytest.mark.parametrize("url", ["notaurl", "ftp://127.0.0.1/x", "http://10.0.0.1/x"])
def test_an_address_that_no_server_calls_is_refused(bank: Bank, url: str) -> None:
    bank.client.put_bank(bank.id)
    with pytest.raises(Invalid):
        bank.client.create_webhook(bank.id, url=url, secret="s", events=EVENTS)


def test_the_webhooks_of_a_bank_that_is_not_there(bank: Bank) -> None:
    with pytest.raises(NotFound) as error:
        bank.client.list_webhooks(f"nowhere-{uuid.uuid4().hex}")
    assert error.value.what == "bank"

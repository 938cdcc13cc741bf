"""A batch that takes longer than a day: a provider's batch mode may, and what nothing works on needs a person."""

from datetime import timedelta

import pytest
import time_machine
from django.utils import timezone

from banks import connections, writes
from banks.demo import DemoServer, DemoTransport, Pace
from banks.models import Bank, Write
from banks.writes import worker
from tests.banks.retaining import flush_now, put, sent
from tests.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)


def given_over(bank: Bank, people: People, pace: Pace) -> Write:
    """A batch of one memory that a server of this pace has taken."""
    connections.TRANSPORTS[bank.server.base_url] = DemoTransport(DemoServer(None, pace=pace))
    with connections.client_for(bank.server) as client:
        client.put_bank(bank.bank_id)
    put(people.reviewer, bank, "one")
    flush_now(bank)
    (write,) = sent(bank)
    assert worker.run(write.pk) == "accepted"
    return write


def again(write: Write) -> Write:
    write.refresh_from_db()
    return write


def test_a_day_is_not_too_long(bank: Bank, people: People) -> None:
    """A provider's batch mode: it is shown as overdue after a day, and stays with the server."""
    write = given_over(bank, people, Pace(work=30 * 3600.0))
    with time_machine.travel(timezone.now() + timedelta(hours=26), tick=False):
        assert worker.run(write.pk) == "accepted"
    assert again(write).outcome["overdue"] is True
    del connections.TRANSPORTS[bank.server.base_url]


def test_what_only_waits_after_a_day_needs_a_person_and_is_sent_again_once_it_has_ended(
    bank: Bank, people: People
) -> None:
    """Nothing of it runs, and no provider takes so long: of the documents that are missing a person decides."""
    write = given_over(bank, people, Pace(pickup=40 * 3600.0))
    with time_machine.travel(timezone.now() + timedelta(hours=26), tick=False):
        assert worker.run(write.pk) == "attention"
        assert again(write).outcome["missing"] == 1
        assert "no part of it runs. 0 of 1 memories are in the bank" in write.error_text
        assert writes.retry(write=write, actor=people.owner)
        new = sent(bank)[-1]
        assert worker.run(new.pk) == "waits"
        assert again(new).outcome["waits_for"] == str(write.operation_id)
    del connections.TRANSPORTS[bank.server.base_url]

"""What servers count in their banks: read by one worker per server, bank by bank, and unknown where it is not told."""

import json
from datetime import timedelta

import httpx
import pytest
import time_machine
from django.utils import timezone

from banks import connections
from banks.demo import DemoServer, DemoTransport
from banks.models import Bank, BankNumbers, Server
from banks.numbers import look
from banks.numbers.read import NOT_LISTED, Numbers
from banks.numbers.store import fail, rows_for, store
from tests import factories
from tests.banks.conftest import LyingTransport

pytestmark = pytest.mark.django_db(transaction=True)


def serving(bank: Bank, line: LyingTransport, **answers: httpx.Response) -> None:
    """The demo server, but for what is asked below a path that holds the name."""

    def answer(request: httpx.Request) -> httpx.Response:
        path = request.url.path.replace("-", "_")
        return next((said for part, said in answers.items() if part in path), None) or line.handle_request(request)

    connections.TRANSPORTS[bank.server.base_url] = httpx.MockTransport(answer)


def another(bank: Bank, bank_id: str) -> Bank:
    with connections.client_for(bank.server) as client:
        client.put_bank(bank_id)
    return factories.make_bank(bank_id, server=bank.server)


def due_again(bank: Bank) -> None:
    BankNumbers.objects.filter(bank=bank).update(read_after=timezone.now())


def test_what_a_server_counts_is_read_by_reading_alone(bank: Bank, line: LyingTransport) -> None:
    assert look.due() == [bank.server_id]
    assert look.look(bank.server_id) == "1 read, 0 failed"
    bank.refresh_from_db()
    numbers = bank.numbers
    assert (bank.document_count, bank.fact_count, bank.retired_count) == (1, 2, 0)
    assert bank.counted_at is not None
    assert sum(numbers.facts_by_type.values()) == 2
    assert (numbers.backlog, numbers.error, numbers.failures) == (0, "", 0)
    assert numbers.last_write_at is not None
    assert (len(numbers.days), sum(numbers.days)) == (14, 2)
    assert {method for method, _ in line.calls} == {"GET"}
    line.calls.clear()
    assert look.due() == []
    assert look.look(bank.server_id) == "nothing to read"
    assert line.calls == []


def test_one_bank_that_is_refused_hides_no_other(bank: Bank, line: LyingTransport) -> None:
    secret = another(bank, "a-secret")
    serving(bank, line, a_secret=httpx.Response(403, json={"detail": "Not for you"}))
    assert look.look(bank.server_id) == "1 read, 1 failed"
    bank.refresh_from_db()
    secret.refresh_from_db()
    assert (bank.document_count, secret.document_count) == (1, None)
    assert "HTTP 403" in secret.numbers.error
    assert Server.objects.get().health != Server.Health.REFUSED


def test_a_key_that_is_refused_leaves_the_numbers_of_before(bank: Bank, line: LyingTransport) -> None:
    look.look(bank.server_id)
    due_again(bank)
    connections.TRANSPORTS[bank.server.base_url] = DemoTransport(DemoServer(None, api_key="another"))
    assert look.look(bank.server_id) == "stopped"
    bank.refresh_from_db()
    assert (bank.document_count, bank.numbers.failures) == (1, 0)
    assert Server.objects.get().health == Server.Health.REFUSED
    assert look.due() == []  # nobody knocks again with the same key
    assert look.look(bank.server_id) == "nothing to read"


def test_a_server_that_cannot_be_read_lets_others_go_first(bank: Bank, line: LyingTransport) -> None:
    line.cut_before.append("GET")
    assert look.look(bank.server_id) == "stopped"
    numbers = BankNumbers.objects.get()
    assert (numbers.failures, "refused" in numbers.error) == (0, True)  # by the server, and no fault of the bank
    assert look.due() == []
    with time_machine.travel(timezone.now() + timedelta(seconds=70), tick=False):
        assert look.due() == [bank.server_id]
        assert look.look(bank.server_id) == "1 read, 0 failed"
    assert BankNumbers.objects.get().error == ""


def test_what_a_server_does_not_tell_is_unknown_and_hides_nothing(bank: Bank, line: LyingTransport) -> None:
    told = {"total_documents": 7, "nodes_by_fact_type": {"world": 3}}
    missing = httpx.Response(404, json={"detail": "Not Found"})
    serving(bank, line, timeseries=missing, aliases=missing, stats=httpx.Response(200, json=told))
    assert look.look(bank.server_id) == "1 read, 0 failed"
    bank.refresh_from_db()
    assert (bank.document_count, bank.fact_count, bank.retired_count) == (7, 3, 0)
    assert (bank.numbers.backlog, bank.numbers.days) == (None, None)
    assert bank.numbers.last_write_at is not None  # the list of banks has it


def test_zeros_of_a_bank_that_the_list_does_not_have_are_not_believed(bank: Bank, line: LyingTransport) -> None:
    typo = factories.make_bank("chekout-service", server=bank.server)
    zeros = {"total_documents": 0, "nodes_by_fact_type": {}}
    serving(bank, line, chekout=httpx.Response(200, text=json.dumps(zeros)))
    assert look.look(bank.server_id) == "1 read, 1 failed"
    typo.refresh_from_db()
    assert typo.document_count is None
    assert NOT_LISTED in typo.numbers.error


def test_what_fails_is_tried_again_after_longer_and_longer_pauses(bank: Bank, settings) -> None:
    settings.NUMBERS_SECONDS = 300
    rows_for([bank])
    with time_machine.travel(timezone.now(), tick=False):
        for usual in (600, 1_200, 2_400, 3_600, 3_600):
            row = BankNumbers.objects.select_related("bank").get()
            assert fail(row, "x" * 400)
            row.refresh_from_db()
            pause = (row.read_after - timezone.now()).total_seconds()
            assert 0.9 * usual <= pause <= 1.1 * usual
    assert (row.failures, len(row.error)) == (5, 300)


def test_who_was_slower_stores_nothing(bank: Bank) -> None:
    rows_for([bank])
    mine, other = (BankNumbers.objects.select_related("bank").get() for _ in range(2))
    told = Numbers(1, 1, {"world": 1}, None, None, None)
    assert store(mine, told)
    assert not store(other, Numbers(9, 9, {}, 9, 9, None))
    assert not fail(other, "late")
    bank.refresh_from_db()
    assert (bank.document_count, bank.numbers.failures) == (1, 0)


def test_few_servers_are_read_at_once_and_each_by_one_worker(bank: Bank) -> None:
    servers = [bank.server_id, *(factories.make_bank().server_id for _ in range(3))]
    assert look.due() == servers[: look.SERVERS_AT_ONCE]
    soon = timezone.now() + timedelta(seconds=10)
    Server.objects.filter(pk=servers[0]).update(numbers_claimed_until=soon)
    assert look.look(servers[0]) == "not due"
    assert look.due() == servers[1:2]
    Server.objects.filter(pk=servers[3]).update(numbers_claimed_until=soon)
    assert look.due() == []
    Server.objects.update(numbers_claimed_until=timezone.now())  # of workers that were killed
    assert len(look.due()) == look.SERVERS_AT_ONCE


def test_banks_that_no_call_can_name_or_that_are_gone_are_not_asked_for(bank: Bank, line: LyingTransport) -> None:
    factories.make_bank("a/b", server=bank.server)
    factories.make_bank("gone", server=bank.server, gone_since=timezone.now())
    assert look.look(bank.server_id) == "1 read, 0 failed"
    assert BankNumbers.objects.count() == 1

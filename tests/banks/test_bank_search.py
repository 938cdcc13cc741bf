"""The servers' own search in many banks: what is asked, what is said of those that cannot be, and what is kept."""

import json
import threading
from datetime import timedelta
from typing import Any

import httpx
import pytest
import time_machine
from django.utils import timezone

from banks import connections, jobs, searching, tasks
from banks.demo import DemoTransport
from banks.models import Bank, Job, Server
from banks.services import bank_search
from tests import factories
from tests.banks.conftest import LyingTransport, store
from tests.conftest import People

pytestmark = pytest.mark.django_db


def asked(people: People, *banks: Bank, words: str = "ledger", **more: Any) -> Job:
    job = bank_search.start(
        user=people.operator, words=words, banks=[bank.pk for bank in banks], shown={"q": words}, **more
    )
    jobs.run(job.pk)
    job.refresh_from_db()
    return job


def told(job: Job, number: int) -> searching.Looked:
    return searching.Looked(**json.loads(bytes(job.items.get(number=number).raw)))


def outcomes(job: Job) -> list[tuple[str, str]]:
    return list(job.items.order_by("number").values_list("outcome", "reason"))


def test_documents_and_facts_of_each_bank_with_what_it_has_more(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    other, empty = (factories.make_bank(name, server=bank.server) for name in ("other", "empty"))
    for number in range(7):
        store(other, f"notes/{number}.md", f"The ledger number {number} is here.")
    store(empty, "a.md", "Nothing.")
    line.calls.clear()
    job = asked(people, bank, other, empty)
    assert (job.state, job.result, job.done, job.total) == ("done", {"banks": 3}, 3, 3)
    assert outcomes(job) == [("found", ""), ("found", ""), ("nothing", "")]
    one, many_ = told(job, 1), told(job, 2)
    assert [each["id"] for each in one.documents] == ["notes/a.md"]
    assert [each["text"] for each in one.facts] == ["Ann keeps the ledger."]
    assert (len(many_.facts), many_.fact_count, many_.document_count) == (searching.HITS, 7, 7)
    assert {method for method, _ in line.calls} == {"GET"}


def test_a_bank_that_is_not_listed_is_not_asked_and_none_appears(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    gone, slashed = factories.make_bank("gone", server=bank.server), factories.make_bank("a/b", server=bank.server)
    assert outcomes(asked(people, gone, slashed, bank)) == [
        ("failed", searching.GONE),
        ("failed", searching.GONE),
        ("found", ""),
    ]
    assert not [path for _, path in line.calls if "gone" in path]
    with connections.client_for(bank.server) as client:
        assert [row.bank_id for row in client.list_banks()] == [bank.bank_id]


class Failing(httpx.BaseTransport):
    """Lists its banks; every other call fails in the same way."""

    def __init__(self, line: LyingTransport, status: int = 0) -> None:
        self.line, self.status, self.calls = line, status, 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.path.endswith("/banks"):
            return DemoTransport(self.line.server).handle_request(request)
        self.calls += 1
        if not self.status:
            raise httpx.ReadTimeout("no answer", request=request)
        return httpx.Response(self.status, json={"detail": "It has no memory left."})


def many(bank: Bank, count: int) -> list[Bank]:
    banks = [factories.make_bank(f"b{number}", server=bank.server) for number in range(count)]
    with connections.client_for(bank.server) as client:
        for each in banks:
            client.put_bank(each.bank_id)
    return banks


def test_who_refuses_or_does_not_answer_is_named_and_costs_little(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    banks = many(bank, 12)
    slow = connections.TRANSPORTS[bank.server.base_url] = Failing(line)
    found = outcomes(asked(people, *banks))
    assert set(found) == {("failed", searching.TOO_SLOW), ("failed", searching.LEFT_ALONE)}
    assert slow.calls < 12
    connections.TRANSPORTS[bank.server.base_url] = Failing(line, 507)
    (first, *rest) = outcomes(asked(people, *banks, again=True))
    assert "It has no memory left." in first[1]
    assert set(rest) == {first}
    refusing = connections.TRANSPORTS[bank.server.base_url] = Failing(line, 401)
    found = outcomes(asked(people, *banks, again=True))
    assert set(found) == {("failed", searching.KEY_REFUSED)}
    assert refusing.calls <= searching.AT_ONCE
    bank.server.refresh_from_db()
    assert bank.server.health == Server.Health.REFUSED
    calls = refusing.calls
    assert set(outcomes(asked(people, *banks, again=True))) == {("failed", searching.KEY_REFUSED)}
    assert refusing.calls == calls  # it is not even asked


def test_one_server_that_is_away_holds_up_no_other(bank: Bank, people: People, line: LyingTransport) -> None:
    away = factories.make_bank("away")

    class Away(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            raise httpx.ConnectError("refused", request=request)

    connections.TRANSPORTS[away.server.base_url] = Away()
    try:
        assert outcomes(asked(people, away, bank)) == [("failed", searching.NO_ANSWER), ("found", "")]
    finally:
        del connections.TRANSPORTS[away.server.base_url]


def test_a_server_that_ignores_the_question_is_not_believed(bank: Bank, people: People, line: LyingTransport) -> None:
    class Everything(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            return DemoTransport(line.server).handle_request(
                httpx.Request(request.method, request.url.copy_remove_param("q"))
            )

    connections.TRANSPORTS[bank.server.base_url] = Everything()
    assert outcomes(asked(people, bank, words="zebra")) == [("failed", searching.NO_SEARCH)]


@pytest.mark.parametrize("words", ["100%", "a_b", "%", "\\", "שלום", "天"])
def test_signs_stand_for_themselves(words: str, bank: Bank, people: People, line: LyingTransport) -> None:
    for number, text in enumerate(["It is 100% a_b \\ שלום 天 sure", "It is 1000 aXb sure"]):
        store(bank, f"d{number}", text)
    assert told(asked(people, bank, words=words), 1).fact_count == 1


def test_at_most_five_banks_of_a_server_at_once(bank: Bank, people: People, line: LyingTransport) -> None:
    banks, lock, now, most = many(bank, 12), threading.Lock(), set[str](), [0]
    first = threading.Barrier(searching.AT_ONCE)
    met: list[str] = []

    class Counting(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            path = request.url.path
            if path.endswith("/documents"):
                with lock:
                    now.add(path)
                    most[0] = max(most[0], len(now))
                    met.append(path)
                    waits = len(met) <= searching.AT_ONCE
                if waits:
                    first.wait(timeout=60)  # until five have come; it breaks if they never do
                with lock:
                    now.discard(path)
            return DemoTransport(line.server).handle_request(request)

    connections.TRANSPORTS[bank.server.base_url] = Counting()
    assert set(outcomes(asked(people, *banks))) == {("nothing", "")}
    assert most[0] == searching.AT_ONCE


def test_it_goes_on_where_it_was_and_a_stopped_one_asks_no_more(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    banks = many(bank, 3)
    job = asked(people, bank, *banks)
    job.items.filter(number__gt=2).delete()
    Job.objects.filter(pk=job.pk).update(state="running", claimed_until=None)
    line.calls.clear()
    assert jobs.run(job.pk) == "done"
    assert job.items.count() == 4
    assert not [path for _, path in line.calls if f"/{bank.bank_id}/" in path]
    other = bank_search.start(user=people.operator, words="x", banks=[bank.pk], shown={"q": "x"})
    assert bank_search.stop(user=people.operator, job=other)
    assert not bank_search.stop(user=people.operator, job=other)
    assert jobs.run(other.pk) == "not ours"
    assert not other.items.exists()


def test_a_bank_that_may_not_be_seen_any_more_is_not_asked(bank: Bank, people: People, line: LyingTransport) -> None:
    job = bank_search.start(user=people.viewer, words="ledger", banks=[bank.pk], shown={"q": "ledger"})
    bank.memberships.filter(user=people.viewer).delete()
    assert jobs.run(job.pk) == "done"
    assert (list(job.items.all()), line.calls) == ([], [])


def test_the_same_question_is_one_job_and_is_forgotten_after_an_hour(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    job = asked(people, bank)
    assert asked(people, bank).pk == job.pk
    assert asked(people, bank, again=True).pk != job.pk
    open_ones = [
        bank_search.start(user=people.operator, words=f"w{n}", banks=[bank.pk], shown={"q": f"w{n}"}).pk
        for n in range(5)
    ]
    left = Job.objects.exclude(state__in=Job.ENDED).order_by("pk").values_list("pk", flat=True)
    assert list(left) == open_ones[2:]
    with time_machine.travel(timezone.now() + timedelta(minutes=61), tick=False):
        tasks.sweep_jobs()
    assert not Job.objects.filter(kind=bank_search.KIND).exists()

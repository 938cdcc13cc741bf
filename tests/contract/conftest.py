"""Every expectation of this folder runs twice: against the demo server and against a real Hindsight server.

The real one is started when it is installed. With MEMADMIN_TEST_REQUIRE=all it is installed when missing, and a server
that cannot be started is a failure; otherwise these tests are skipped and say why.
"""

import contextlib
import itertools
import os
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx
import pytest

from banks import connections
from banks.demo import DemoServer, DemoTransport, Pace
from banks.hindsight import HindsightClient, NotFound, Operation, RetainItem
from banks.models import Bank as BankRow
from tests import factories
from tests.hindsight.runner import KEY, CannotStart, Home, used

_PATIENCE = 180.0  # seconds; the longest wait is for a retain that fails four times
_PACE = Pace(pickup=0.005, work=0.01, backoff=0.3)


@dataclass(frozen=True)
class Target:
    """One server under test. `model`: the stand-in for a language model that it asks, if it asks one."""

    name: str
    url: str
    transport: httpx.BaseTransport | None
    model: str | None = None

    def client(self, key: str = KEY) -> HindsightClient:
        return HindsightClient(self.url, api_key=key, transport=self.transport)

    def works(self, key: str) -> None:
        """Wait until the server works on the text with `[[SLOW:n:key]]`. The real one says "processing" first and looks
        then whether the operation is cancelled: what is cancelled in between is never done."""
        if self.model is not None:
            until(lambda: httpx.get(f"{self.model}/begun/{key}").json()["begun"], bool)


@dataclass(frozen=True)
class Bank:
    """A bank of its own for each test, and the few things that every test does with it."""

    client: HindsightClient
    id: str

    def submit(self, document_id: str, content: str, **more: object) -> str:
        """Hand over one document. Returns the operation id."""
        item = RetainItem(content, document_id, **more)  # type: ignore[arg-type]  # names and values come from the test
        return self.client.retain(self.id, [item], operation_id=uuid.uuid4()).operation_id

    def store(self, document_id: str, content: str, **more: object) -> Operation:
        """Store one document and wait for it."""
        done = self.wait(self.submit(document_id, content, **more))
        assert done.status == "completed", done.error
        return done

    def wait(self, operation_id: str) -> Operation:
        return until(lambda: self.client.get_operation(self.id, operation_id), lambda operation: operation.terminal)

    def quiet(self) -> None:
        """Wait until nothing runs any more, observations included."""
        until(lambda: self.client.stats(self.id), lambda stats: stats.pending_operations == 0)

    def facts(self, document_id: str, state: str = "valid") -> dict[str, str]:
        """text → id"""
        page = self.client.list_facts(self.id, document_id=document_id, state=state, limit=1_000)
        return {fact.text: fact.id for fact in page.items}


_numbers = itertools.count(1)


@contextlib.contextmanager
def registered(
    target: Target, bank: Bank, *, transport: httpx.BaseTransport | None = None, **more: Any
) -> Iterator[BankRow]:
    """Our row for the bank. `transport`: instead of the target's own."""
    server = factories.make_server(base_url=target.url, name=f"{target.name} {next(_numbers)}")
    server.api_key = KEY
    server.save()
    if (line := transport or target.transport) is not None:
        connections.TRANSPORTS[target.url] = line
    yield factories.make_bank(bank.id, server=server, **more)
    connections.TRANSPORTS.pop(target.url, None)


Answer = TypeVar("Answer")


def until(ask: Callable[[], Answer], good: Callable[[Answer], bool]) -> Answer:
    """Ask until the answer is good: this waits for another program's work and ends with it."""
    deadline = time.monotonic() + _PATIENCE
    while not good(answer := ask()):
        assert time.monotonic() < deadline, f"still not: {answer}"
        time.sleep(0.05)
    return answer


@pytest.fixture(scope="session")
def real_server() -> Iterator[Target]:
    required = os.environ.get("MEMADMIN_TEST_REQUIRE") == "all"
    with contextlib.ExitStack() as stack:
        try:
            running = stack.enter_context(used(Home.from_environment(), install=required))
        except CannotStart as error:
            if required:
                pytest.fail(f"no real Hindsight server: {error}", pytrace=False)
            pytest.skip(f"no real Hindsight server: {error}")
        yield Target("real", running.url, None, running.model)


@pytest.fixture(scope="session")
def demo_server() -> Iterator[Target]:
    server = DemoServer(pace=_PACE, api_key=KEY)
    yield Target("demo", "http://demo", DemoTransport(server))
    server.close()


@pytest.fixture(params=["demo", "real"])
def target(request: pytest.FixtureRequest) -> Target:
    found: Target = request.getfixturevalue(f"{request.param}_server")
    return found


@pytest.fixture
def client(target: Target) -> Iterator[HindsightClient]:
    with target.client() as client:
        yield client


@pytest.fixture
def bank(client: HindsightClient) -> Iterator[Bank]:
    bank = Bank(client, f"contract-{uuid.uuid4().hex[:12]}")
    client.put_bank(bank.id, name="Contract")
    yield bank
    with contextlib.suppress(NotFound):
        client.delete_bank(bank.id)


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/contract/" in item.nodeid or item.nodeid.startswith("tests/contract/"):
            item.add_marker("contract")

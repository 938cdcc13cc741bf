from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from uuid import uuid4

import httpx
import pytest

from banks import connections
from banks.demo import DemoServer, DemoTransport, Pace
from banks.models import Bank, Server

if TYPE_CHECKING:
    from tests.banks.retaining import Keeping

NOW = datetime(2026, 3, 16, 10, 0, tzinfo=UTC)


@dataclass
class LyingTransport(httpx.BaseTransport):
    """The demo server behind a line that can be cut before or after the server did what it was told."""

    server: DemoServer
    cut_before: list[str] = field(default_factory=list)  # methods whose next call never arrives
    cut_after: list[str] = field(default_factory=list)  # methods whose next answer is lost
    calls: list[tuple[str, str]] = field(default_factory=list)
    before_call: dict[str, object] = field(default_factory=dict)  # method → callable, run once before it arrives

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        method = request.method
        if method in self.cut_before:
            self.cut_before.remove(method)
            raise httpx.ConnectError("refused", request=request)
        if hook := self.before_call.pop(method, None):
            hook()  # type: ignore[operator]
        self.calls.append((method, request.url.raw_path.decode("ascii")))
        response = DemoTransport(self.server).handle_request(request)
        if method in self.cut_after:
            self.cut_after.remove(method)
            raise httpx.ReadTimeout("no answer", request=request)
        return response

    def sent(self, method: str) -> int:
        return sum(made == method for made, _ in self.calls)


@pytest.fixture
def server(bank: Bank) -> Server:
    return bank.server


@pytest.fixture
def line(bank: Bank) -> Iterator[LyingTransport]:
    """The demo server as the server of `bank`, with one document `notes/a.md` that is loaded by nobody yet."""
    server = DemoServer(None, pace=Pace.instant())
    transport = LyingTransport(server)
    connections.TRANSPORTS[bank.server.base_url] = transport
    store(bank, "notes/a.md", "Ann keeps the ledger. Ben reads it.")
    transport.calls.clear()
    yield transport
    del connections.TRANSPORTS[bank.server.base_url]


@pytest.fixture
def wire(bank: Bank, line: LyingTransport) -> "Keeping":
    """The line to the bank, and every retain that was posted."""
    from tests.banks.retaining import Keeping

    keeping = connections.TRANSPORTS[bank.server.base_url] = Keeping(line)
    return keeping


def store(bank: Bank, document_id: str, text: str, **params: object) -> None:
    """What an agent does: retains a document, past memadmin."""
    from banks.hindsight import RetainItem

    with connections.client_for(bank.server) as client:
        client.retain(bank.bank_id, [RetainItem(text, document_id, **params)], operation_id=uuid4())  # type: ignore[arg-type]
        client.get_operation(bank.bank_id, "00000000-0000-4000-8000-000000000000")  # lets the work be done


def later(seconds: float) -> timedelta:
    return timedelta(seconds=seconds)

"""A fact that is away for a moment is not gone."""

from dataclasses import replace
from typing import Any

import httpx
import pytest
from django.db import transaction

from banks import connections, fact_kinds, writes
from banks.hindsight import Fact
from banks.models import Bank, Write
from tests.banks.conftest import LyingTransport, store
from tests.known_failures.world import work_off

pytestmark = pytest.mark.django_db
UNKNOWN = {"detail": "Memory unit not found"}


class Rebuilding(httpx.BaseTransport):
    """Consolidation rewrites the unit: so many calls by its id find nothing, while the lists have it."""

    def __init__(self, line: LyingTransport, fact_id: str, *, method: str, times: int) -> None:
        self.line, self.fact_id, self.method, self.times = line, fact_id, method, times

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        named = request.url.path.endswith(self.fact_id)
        if named and request.method == self.method and self.times:
            self.times -= 1
            return httpx.Response(404, json=UNKNOWN)
        return self.line.handle_request(request)


@pytest.fixture
def fact(bank: Bank, line: LyingTransport, monkeypatch: pytest.MonkeyPatch) -> Fact:
    """One that is retired."""
    monkeypatch.setattr(fact_kinds, "AWAY_PAUSE", 0.0)
    with connections.client_for(bank.server) as client:
        found = client.list_facts(bank.bank_id, document_id="notes/a.md").items[0]
        client.patch_fact(bank.bank_id, found.id, state="invalidated", reason="it died")
    return found


def restore(bank: Bank, fact: Fact) -> Write:
    with transaction.atomic():
        write = writes.record(
            kind="restore", bank=bank, via=Write.Via.WEB, document_id="notes/a.md", fact_ids=[fact.id]
        )
    work_off()
    write.refresh_from_db()
    return write


def state_of(bank: Bank, fact: Fact) -> str:
    with connections.client_for(bank.server) as client:
        return client.get_fact(bank.bank_id, fact.id).state


@pytest.mark.parametrize(("method", "times"), [("GET", 2), ("PATCH", 1)])
def test_row_s11_a_restore_that_meets_a_404_is_tried_once_more(
    bank: Bank, line: LyingTransport, fact: Fact, method: str, times: int
) -> None:
    connections.TRANSPORTS[bank.server.base_url] = Rebuilding(line, fact.id, method=method, times=times)
    write = restore(bank, fact)
    assert (write.state, write.outcome["restored"]) == (Write.State.DONE, [fact.id])
    assert state_of(bank, fact) == "valid"


@pytest.mark.parametrize("method", ["GET", "PATCH"])
def test_row_s11_what_the_lists_have_is_not_called_gone(
    bank: Bank, line: LyingTransport, fact: Fact, method: str
) -> None:
    connections.TRANSPORTS[bank.server.base_url] = Rebuilding(line, fact.id, method=method, times=1_000)
    write = restore(bank, fact)
    connections.TRANSPORTS[bank.server.base_url] = line
    assert (write.state, write.outcome.get("restored")) == (Write.State.ATTENTION, [])
    assert fact_kinds.AWAY in write.error_text
    assert "no longer" not in write.error_text
    assert state_of(bank, fact) == "invalidated"


def test_row_s11_the_lists_are_read_to_their_end(
    bank: Bank, line: LyingTransport, fact: Fact, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(bank, "notes/a.md", "Ann keeps the ledger. Ben reads it. It rained. It snowed. It hailed.")
    with connections.client_for(bank.server) as client:
        there = client.list_facts(bank.bank_id, document_id="notes/a.md").items
    monkeypatch.setattr(fact_kinds, "LISTED", 2)
    for each in there:
        connections.TRANSPORTS[bank.server.base_url] = Rebuilding(line, each.id, method="GET", times=1_000)
        assert fact_kinds.AWAY in restore(bank, each).error_text


def test_row_s11_lists_that_take_too_long_prove_nothing(
    bank: Bank, line: LyingTransport, fact: Fact, monkeypatch: pytest.MonkeyPatch
) -> None:
    store(bank, "notes/a.md", "It rained. It snowed. It hailed.")
    monkeypatch.setattr(fact_kinds, "LISTED", 1)
    monkeypatch.setattr(fact_kinds, "LIST_SECONDS", 0.0)
    write = restore(bank, replace(fact, id="00000000-0000-4000-8000-00000000dead"))
    assert fact_kinds.UNREAD in write.error_text
    assert fact_kinds.GONE not in write.error_text


def test_row_s11_what_no_list_has_is_gone(bank: Bank, line: LyingTransport, fact: Fact) -> None:
    with connections.client_for(bank.server) as client:
        client.delete_document(bank.bank_id, "notes/a.md")
    write = restore(bank, fact)
    assert write.state == Write.State.ATTENTION
    assert fact_kinds.GONE in write.error_text


def test_row_s11_a_page_of_a_proxy_says_nothing_about_a_fact(bank: Bank, line: LyingTransport, fact: Fact) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        return httpx.Response(404, html="<h1>Not here</h1>")

    connections.TRANSPORTS[bank.server.base_url] = httpx.MockTransport(answer)
    write: Any = restore(bank, fact)
    connections.TRANSPORTS[bank.server.base_url] = line
    assert write.state == Write.State.ATTENTION
    assert fact_kinds.GONE not in write.error_text
    assert state_of(bank, fact) == "invalidated"

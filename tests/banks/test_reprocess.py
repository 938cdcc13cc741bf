"""A document is extracted again through the door: once, as it was decided on, and with its facts kept before."""

import json
from collections.abc import Callable

import httpx
import pytest
import time_machine
from django.db import transaction
from django.utils import timezone

from banks import connections, reprocess_kind, writes
from banks.hindsight import Document
from banks.models import Bank, Write
from banks.writes import worker
from tests.banks.conftest import LyingTransport, later, store

pytestmark = pytest.mark.django_db(transaction=True)
DOCUMENT = "notes/a.md"
State = Write.State


def document_of(bank: Bank, document_id: str = DOCUMENT) -> Document:
    with connections.client_for(bank.server) as client:
        return client.get_document(bank.bank_id, document_id)


def facts_of(bank: Bank, state: str = "valid") -> dict[str, str]:
    with connections.client_for(bank.server) as client:
        rows = client.list_facts(bank.bank_id, document_id=DOCUMENT, state=state).items
    return {fact.text: fact.id for fact in rows}


def ask(bank: Bank, **more: object) -> Write:
    more.setdefault("decided_hash", document_of(bank, str(more.get("document_id", DOCUMENT))).content_hash)
    with transaction.atomic():
        values = {"document_id": DOCUMENT, **more}
        return writes.record(kind="reprocess", bank=bank, via=Write.Via.WEB, **values)  # type: ignore[arg-type]


def ended(write: Write) -> Write:
    """Runs the row whenever it is due, with the clock moved on between."""
    with time_machine.travel(timezone.now(), tick=False) as clock:
        for _ in range(40):
            write.refresh_from_db()
            if write.state not in Write.OPEN:
                break
            clock.move_to(max(write.not_before, timezone.now()) + later(1))
            worker.run(write.pk)
    write.refresh_from_db()
    return write


def test_all_facts_are_others_then_and_were_kept_before(bank: Bank, line: LyingTransport) -> None:
    before = facts_of(bank)
    with connections.client_for(bank.server) as client:
        client.patch_fact(bank.bank_id, before["Ben reads it."], state="invalidated", reason="he does not")
    write = ended(ask(bank))
    assert (write.state, line.sent("POST")) == (State.DONE, 1)
    told = {name: write.outcome[name] for name in ("facts_before", "retired_before", "facts", "zero_facts")}
    assert told == {"facts_before": 1, "retired_before": 1, "facts": 2, "zero_facts": False}
    assert not set(before.values()) & set(facts_of(bank).values())
    assert facts_of(bank, "invalidated") == {}
    kept = {fact.id: fact for fact in reprocess_kind.kept_facts(write)}
    assert set(kept) == set(before.values())
    assert kept[before["Ben reads it."]].invalidation_reason == "he does not"


def test_the_slot_is_kept_until_the_operation_has_ended(bank: Bank, line: LyingTransport) -> None:
    store(bank, "slow", "Ann waits. [[SLOW:30]]")
    with time_machine.travel(timezone.now(), tick=False) as clock:
        clock.shift(120)
        write = ask(bank, document_id="slow")
        other = ask(bank, document_id="slow")
        assert worker.run(write.pk) == "accepted"
        clock.shift(5)
        assert worker.run(write.pk) == "accepted"
        assert worker.run(other.pk) == "not due"
        assert line.sent("POST") == 2  # the store above is one
        clock.shift(60)
        assert worker.run(write.pk) == "done"
        assert worker.run(other.pk) == "accepted"


def test_a_document_that_was_written_again_is_not_extracted(bank: Bank, line: LyingTransport) -> None:
    write = ask(bank)
    store(bank, DOCUMENT, "Something else.")
    line.calls.clear()
    write = ended(write)
    assert (write.state, line.sent("POST")) == (State.CHANGED, 0)
    assert "written again" in write.error_text


def test_a_document_that_is_gone_is_not_extracted(bank: Bank, line: LyingTransport) -> None:
    write = ask(bank)
    with connections.client_for(bank.server) as client:
        client.delete_document(bank.bank_id, DOCUMENT)
    write = ended(write)
    assert (write.state, line.sent("POST")) == (State.CHANGED, 0)


def test_no_facts_is_said(bank: Bank, line: LyingTransport) -> None:
    store(bank, "empty", "Nothing. [[NOFACTS]]")
    write = ended(ask(bank, document_id="empty"))
    assert (write.state, write.outcome["zero_facts"], write.outcome["facts_before"]) == (State.DONE, True, 0)


def test_a_lost_answer_is_read_back_and_not_repeated(bank: Bank, line: LyingTransport) -> None:
    before = facts_of(bank)
    line.cut_after.append("POST")
    write = ask(bank)
    with time_machine.travel(timezone.now() + later(1), tick=False):
        assert worker.run(write.pk) == "unknown"
    write = ended(write)
    assert (write.state, line.sent("POST")) == (State.DONE, 1)
    assert not set(before.values()) & set(facts_of(bank).values())


def test_nothing_is_resent_while_an_operation_on_it_runs(bank: Bank, line: LyingTransport) -> None:
    store(bank, "slow", "Ann waits. [[SLOW:30]]")
    with time_machine.travel(timezone.now(), tick=False) as clock:
        clock.shift(120)
        write = ask(bank, document_id="slow")
        line.calls.clear()
        line.cut_after.append("POST")
        assert worker.run(write.pk) == "unknown"
        clock.shift(5)
        assert worker.run(write.pk) == "accepted"
        clock.shift(60)
        assert worker.run(write.pk) == "done"
    assert line.sent("POST") == 1


def test_what_never_arrived_is_sent_again(bank: Bank, line: LyingTransport) -> None:
    line.cut_before.append("POST")
    write = ended(ask(bank))
    assert (write.state, line.sent("POST")) == (State.DONE, 1)


def test_a_failed_extraction_needs_a_person_and_says_why(bank: Bank, line: LyingTransport) -> None:
    store(bank, "bad", "It works. [[FAILN:0:k]]")
    line.server._store.run("UPDATE documents SET text = 'It fails. [[FAIL]]' WHERE id = 'bad'")
    write = ended(ask(bank, document_id="bad"))
    assert write.state == State.ATTENTION
    assert "forced failure" in write.error_text


def answering(wanted: Callable[[httpx.Request], bool], status: int, data: object, then: httpx.BaseTransport):
    class Other(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            return httpx.Response(status, json=data) if wanted(request) else then.handle_request(request)

    return Other()


@pytest.mark.parametrize(("status", "detail"), [(405, "Method Not Allowed"), (404, "Not Found")])
def test_a_server_that_cannot_says_so(bank: Bank, line: LyingTransport, status: int, detail: str) -> None:
    write = ask(bank)
    connections.TRANSPORTS[bank.server.base_url] = answering(
        lambda request: request.url.path.endswith("/reprocess"), status, {"detail": detail}, line
    )
    write = ended(write)
    assert (write.state, write.error_text) == (State.ATTENTION, reprocess_kind.CANNOT)


def test_a_server_that_does_nothing_is_not_believed(bank: Bank, line: LyingTransport) -> None:
    """Up to 0.9.2 they skip a text that is the same, and complete."""
    before, write = facts_of(bank), ask(bank)
    done = {"operation_id": str(write.operation_id), "status": "completed"}
    skipping = answering(
        lambda request: request.url.path.endswith("/reprocess") or "/operations/" in request.url.path, 200, done, line
    )
    connections.TRANSPORTS[bank.server.base_url] = skipping
    write = ended(write)
    assert (write.state, write.error_text) == (State.ATTENTION, reprocess_kind.SAME)
    assert facts_of(bank) == before


def test_facts_that_cannot_be_read_whole_keep_what_was_stored(bank: Bank, line: LyingTransport) -> None:
    from banks.models import Blob

    stored = Blob.objects.store(json.dumps([{"id": "f", "text": "Ann keeps the ledger."}]))
    unknown = {"items": [{"id": "x", "document_id": "other"}], "total": 1}
    write = ask(bank, facts_before=stored)
    connections.TRANSPORTS[bank.server.base_url] = answering(
        lambda request: request.url.path.endswith("/memories/list"), 200, unknown, line
    )
    write = ended(write)
    assert (write.state, write.facts_before) == (State.DONE, stored)
    assert reprocess_kind.kept_facts(write) == []

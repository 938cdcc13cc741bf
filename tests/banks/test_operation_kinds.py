"""Cancel and retry through the door: what is sent, what is said, and what was seen afterwards."""

from collections.abc import Iterator
from datetime import timedelta
from uuid import uuid4

import httpx
import pytest
import time_machine
from django.db import transaction
from django.utils import timezone

from banks import connections, operation_kinds, writes
from banks.demo import DemoServer, Pace
from banks.hindsight import RetainItem
from banks.models import Bank, Write
from banks.writes import worker
from tests.banks.conftest import LyingTransport
from tests.banks.operations import on_server

pytestmark = pytest.mark.django_db(transaction=True)
State = Write.State


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel("2026-03-16T10:00:00Z", tick=False) as clock:
        yield clock


@pytest.fixture
def slow(bank: Bank, clock: time_machine.Traveller) -> Iterator[LyingTransport]:
    server = DemoServer(clock=timezone.now, pace=Pace(pickup=1, work=2, backoff=60))
    connections.TRANSPORTS[bank.server.base_url] = transport = LyingTransport(server)
    yield transport
    del connections.TRANSPORTS[bank.server.base_url]


def submit(bank: Bank, text: str) -> str:
    with connections.client_for(bank.server) as client:
        return client.retain(bank.bank_id, [RetainItem(text, "d")], operation_id=uuid4()).operation_id


def child_of(bank: Bank, text: str) -> str:
    return on_server(bank, submit(bank, text)).children[0].id


def ask(bank: Bank, kind: str, operation_id: str, document: str = "d") -> Write:
    with transaction.atomic():
        params = {"operation": operation_id, "document": document}
        return writes.record(kind=f"operation-{kind}", bank=bank, via=Write.Via.WEB, params=params)


def run(write: Write) -> str:
    word = worker.run(write.pk)
    write.refresh_from_db()
    return word


def ended(write: Write, clock: time_machine.Traveller) -> Write:
    for _ in range(60):
        if write.state not in Write.OPEN:
            break
        clock.move_to(max(write.not_before, timezone.now()) + timedelta(seconds=1))
        run(write)
    return write


def has_document(bank: Bank) -> bool:
    with connections.client_for(bank.server) as client:
        return client.find_document(bank.bank_id, "d") is not None


def test_what_waits_is_cancelled_and_stores_nothing(bank: Bank, slow: LyingTransport, clock) -> None:
    child = child_of(bank, "Ann keeps the ledger.")
    write = ask(bank, "cancel", child)
    assert run(write) == "accepted"
    write = ended(write, clock)
    assert (write.state, write.outcome["said"]) == (State.DONE, operation_kinds.NEVER_BEGAN)
    clock.shift(60)
    assert not has_document(bank)
    assert slow.sent("DELETE") == 1


def test_what_works_is_cancelled_and_the_row_says_that_it_stored_all_the_same(
    bank: Bank, slow: LyingTransport, clock
) -> None:
    child = child_of(bank, "[[SLOW:20]] Ann keeps the ledger.")
    clock.shift(2)
    write = ask(bank, "cancel", child)
    run(write)
    clock.shift(3)
    assert (run(write), write.outcome["said"]) == ("accepted", operation_kinds.STORES_STILL)
    write = ended(write, clock)
    assert (write.state, write.outcome["stored"], write.outcome["status"]) == (State.DONE, True, "cancelled")
    assert "its document was stored within" in write.outcome["said"]


def test_what_works_and_stores_nothing_in_time_is_said_to_be_unseen(bank: Bank, slow: LyingTransport, clock) -> None:
    slow.server = DemoServer(clock=timezone.now, pace=Pace(pickup=1, work=900))
    child = child_of(bank, "Ann keeps the ledger.")
    clock.shift(2)
    write = ended(ask(bank, "cancel", child), clock)
    assert (write.outcome["stored"], write.outcome["said"]) == (False, operation_kinds.NOT_SEEN)


def test_of_an_unknown_document_nothing_is_promised(bank: Bank, slow: LyingTransport, clock) -> None:
    child = child_of(bank, "[[SLOW:20]] Ann keeps the ledger.")
    clock.shift(2)
    write = ended(ask(bank, "cancel", child, document=""), clock)
    assert write.outcome["said"] == operation_kinds.CANNOT_SEE


def test_a_cancelled_parent_says_that_its_parts_go_on(bank: Bank, slow: LyingTransport, clock) -> None:
    write = ended(ask(bank, "cancel", submit(bank, "[[SLOW:20]] Ann keeps the ledger.")), clock)
    assert write.state == State.DONE
    assert "its parts were not: 1 go on" in write.outcome["said"]


def test_what_has_ended_or_is_unknown_is_left_alone(bank: Bank, slow: LyingTransport, clock) -> None:
    child = child_of(bank, "Ann keeps the ledger.")
    clock.shift(10)
    for operation_id, said in (
        (child, "had ended as completed"),
        (str(uuid4()), "does not know this operation"),
    ):
        write = ask(bank, "cancel", operation_id)
        assert run(write) == "done"
        assert said in write.outcome["said"]
    assert slow.sent("DELETE") == 0


def test_a_lost_answer_is_read_back_and_not_repeated(bank: Bank, slow: LyingTransport, clock) -> None:
    child = child_of(bank, "Ann keeps the ledger.")
    slow.cut_after.append("DELETE")
    write = ask(bank, "cancel", child)
    assert run(write) == "unknown"
    write = ended(write, clock)
    assert (write.state, slow.sent("DELETE")) == (State.DONE, 1)


def refusing(method: str, status: int, then: httpx.BaseTransport) -> httpx.MockTransport:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == method:
            return httpx.Response(status, json={"detail": "only pending operations can be cancelled"})
        return then.handle_request(request)

    return httpx.MockTransport(answer)


def test_a_server_that_refuses_while_it_works_is_quoted(bank: Bank, slow: LyingTransport, clock) -> None:
    child = child_of(bank, "[[SLOW:20]] Ann keeps the ledger.")
    clock.shift(2)
    connections.TRANSPORTS[bank.server.base_url] = refusing("DELETE", 409, slow)
    write = ask(bank, "cancel", child)
    run(write)
    assert write.state == State.ATTENTION
    assert "refuses to cancel it while it is processing, and it was left as it is" in write.error_text
    assert on_server(bank, child).raw_status == "processing"


def test_a_failed_one_is_queued_again_followed_and_completes(bank: Bank, slow: LyingTransport, clock) -> None:
    parent = submit(bank, "[[FAILN:4:k]] Ann keeps the ledger.")
    clock.shift(600)
    assert on_server(bank, parent).failed
    write = ask(bank, "retry", parent)
    assert (run(write), write.outcome["said"]) == ("accepted", "Queued again.")
    assert "forced failure" in write.outcome["error_before"]  # the server has forgotten it
    write = ended(write, clock)
    assert (write.state, write.outcome["said"]) == (State.DONE, "It ran again and completed.")
    assert slow.sent("POST") == 2


def test_one_that_fails_again_needs_a_person_and_says_why(bank: Bank, slow: LyingTransport, clock) -> None:
    parent = submit(bank, "[[FAIL]] Ann keeps the ledger.")
    clock.shift(600)
    write = ended(ask(bank, "retry", parent), clock)
    assert write.state == State.ATTENTION
    assert "failed again: RuntimeError: Fact extraction failed" in write.error_text


def test_one_that_waits_for_its_next_attempt_runs_now(bank: Bank, slow: LyingTransport, clock) -> None:
    child = child_of(bank, "[[FAILN:1:k]] Ann keeps the ledger.")
    clock.shift(4)
    assert on_server(bank, child).status == "retrying"
    write = ask(bank, "retry", child)
    run(write)
    clock.shift(4)
    assert has_document(bank)
    assert ended(write, clock).state == State.DONE


def test_a_cancelled_child_is_retried_after_its_cancel_has_ended(bank: Bank, slow: LyingTransport, clock) -> None:
    child = child_of(bank, "[[SLOW:20]] Ann keeps the ledger.")
    clock.shift(2)
    cancel, retry = ask(bank, "cancel", child), ask(bank, "retry", child)
    run(cancel)
    assert run(retry) == "not due"  # one in flight for each operation
    ended(cancel, clock)
    assert ended(retry, clock).outcome["said"] == "It ran again and completed."


@pytest.mark.parametrize(("seconds", "said"), [(0, "It is pending already"), (2, "It is processing already"), (90, "")])
def test_what_needs_no_retry_gets_none(bank: Bank, slow: LyingTransport, clock, seconds: int, said: str) -> None:
    child = child_of(bank, "[[SLOW:20]] Ann keeps the ledger.")
    clock.shift(seconds)
    write = ask(bank, "retry", child)
    assert run(write) == "done"
    assert (said or "nothing to retry") in write.outcome["said"]
    assert slow.sent("POST") == 1


def test_what_the_server_no_longer_knows_cannot_be_retried(bank: Bank, slow: LyingTransport, clock) -> None:
    submit(bank, "Ann keeps the ledger.")
    write = ask(bank, "retry", str(uuid4()))
    run(write)
    assert (write.state, write.error_text) == (State.ATTENTION, operation_kinds.NOTHING_TO_RETRY)


def test_a_retry_whose_answer_was_lost_is_found_by_what_moved(bank: Bank, slow: LyingTransport, clock) -> None:
    parent = submit(bank, "[[FAILN:4:k]] Ann keeps the ledger.")
    clock.shift(600)
    slow.cut_after.append("POST")
    write = ask(bank, "retry", parent)
    assert run(write) == "unknown"
    write = ended(write, clock)
    assert (write.state, slow.sent("POST")) == (State.DONE, 2)


def test_a_retry_that_never_arrived_is_sent_again(bank: Bank, slow: LyingTransport, clock) -> None:
    parent = submit(bank, "[[FAILN:4:k]] Ann keeps the ledger.")
    clock.shift(600)
    slow.cut_before.append("POST")
    write = ended(ask(bank, "retry", parent), clock)
    assert (write.state, write.outcome["said"]) == (State.DONE, "It ran again and completed.")


def test_a_parent_that_is_queued_without_its_parts_is_not_waited_for(bank: Bank, slow: LyingTransport, clock) -> None:
    """Older servers forget the parent's error and leave it pending, with children that have failed."""
    row = {"id": str(uuid4()), "type": "batch_retain", "status": "failed", "updated_at": "2026-03-16T09:00:00Z"}
    child = {"operation_id": str(uuid4()), "status": "failed", "error_message": "no"}

    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            row["status"], row["updated_at"] = "pending", "2026-03-16T10:00:00Z"
        return httpx.Response(200, json={**row, "child_operations": [child]})

    connections.TRANSPORTS[bank.server.base_url] = httpx.MockTransport(answer)
    write = ended(ask(bank, "retry", row["id"]), clock)
    assert (write.state, write.error_text) == (State.ATTENTION, operation_kinds.PARTS_FAILED)


def test_what_has_ended_is_forgotten_and_its_error_is_kept_with_the_row(
    bank: Bank, slow: LyingTransport, clock
) -> None:
    child = child_of(bank, "[[FAIL]] Ann keeps the ledger.")
    clock.shift(600)
    slow.cut_after.append("DELETE")
    write = ask(bank, "forget", child)
    assert run(write) == "unknown"
    write = ended(write, clock)
    assert (write.state, write.outcome["said"], slow.sent("DELETE")) == (State.DONE, operation_kinds.FORGOT, 1)
    assert "forced failure" in write.outcome["error_before"]
    assert on_server(bank, child).not_found
    again = ask(bank, "forget", child)
    assert (run(again), again.outcome["said"]) == ("done", "The server had forgotten it already.")


def test_what_runs_again_is_not_forgotten(bank: Bank, slow: LyingTransport, clock) -> None:
    write = ask(bank, "forget", child_of(bank, "Ann keeps the ledger."))
    run(write)
    assert (write.state, write.error_text) == (State.CHANGED, "It is pending now, so it was not forgotten.")


def test_each_operation_has_a_slot_of_its_own_and_waits_for_no_document(bank: Bank, slow: LyingTransport) -> None:
    one, two = ask(bank, "cancel", "a"), ask(bank, "retry", "b")
    assert ask(bank, "retry", "a").slot == one.slot != two.slot
    assert one.document_id == ""

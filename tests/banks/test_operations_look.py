"""What a server says about its background work becomes rows: bounded, linked, and kept up to date."""

import json
from collections.abc import Iterator
from datetime import timedelta
from uuid import uuid4

import httpx
import pytest
import time_machine
from django.utils import timezone

from banks import connections
from banks.demo import DemoServer, DemoTransport, Pace
from banks.hindsight import RetainItem
from banks.models import Bank, OperationLook, OperationSeen, Server
from banks.operations import look, store
from tests.banks.operations import looked, make_operation, on_server, rows_of

pytestmark = pytest.mark.django_db(transaction=True)
Phase = OperationSeen.Phase


@pytest.fixture
def clock() -> Iterator[time_machine.Traveller]:
    with time_machine.travel("2026-03-16T10:00:00Z", tick=False) as clock:
        yield clock


def serve(bank: Bank, work: float = 2) -> DemoServer:
    server = DemoServer(clock=timezone.now, pace=Pace(pickup=1, work=work, backoff=60))
    connections.TRANSPORTS[bank.server.base_url] = DemoTransport(server)
    return server


@pytest.fixture
def demo(bank: Bank, clock: time_machine.Traveller) -> Iterator[DemoServer]:
    """Work there takes three seconds, and a minute passes before another attempt."""
    yield serve(bank)
    del connections.TRANSPORTS[bank.server.base_url]


def submit(bank: Bank, *texts: str) -> str:
    items = [RetainItem(text, f"d{number}") for number, text in enumerate(texts)]
    with connections.client_for(bank.server) as client:
        return client.retain(bank.bank_id, items, operation_id=uuid4()).operation_id


def test_a_parent_and_its_child_from_waiting_to_done(bank: Bank, demo: DemoServer, clock) -> None:
    parent_id = submit(bank, "Ann keeps the ledger.")
    assert looked(bank) == "2 new, 0 changed"
    parent = rows_of(bank)[parent_id]
    child = parent.children.get()
    assert (parent.status, parent.phase, parent.document_id) == ("pending", "open", "d0")
    assert (child.status, child.type, child.phase) == ("pending", "retain", "open")
    clock.shift(1)
    looked(bank)
    child.refresh_from_db()
    assert (child.status, child.still_since) == ("processing", timezone.now())
    clock.shift(5)
    looked(bank)
    assert {row.phase for row in rows_of(bank).values()} == {"ended"}
    clock.shift(1)
    assert looked(bank) == "0 new, 0 changed"
    found = OperationLook.objects.get(bank=bank)
    assert (found.open_total, found.failed_total, found.error) == (0, 0, "")


def test_slow_failure_is_followed_through_its_attempts(bank: Bank, demo: DemoServer, clock) -> None:
    parent_id = submit(bank, "[[FAIL]] Ann fails.")
    clock.shift(3)
    looked(bank)
    child = rows_of(bank)[parent_id].children.get()
    assert (child.status, child.raw_status, child.retry_count, child.phase) == ("retrying", "pending", 1, "open")
    assert "forced failure" in child.error
    assert child.still_since == child.next_retry_at == timezone.now() + timedelta(seconds=60)
    assert not child.stuck
    clock.shift(600)
    looked(bank)
    assert {(row.status, row.phase) for row in rows_of(bank).values()} == {("failed", "failed")}
    assert OperationLook.objects.get().failed_total == 2


def test_a_cancelled_parent_has_not_ended_while_its_child_works(bank: Bank, demo: DemoServer, clock) -> None:
    parent_id = submit(bank, "[[SLOW:30]] Ann waits.")
    clock.shift(1)
    with connections.client_for(bank.server) as client:
        client.cancel_operation(bank.bank_id, parent_id)
    looked(bank)
    parent = rows_of(bank)[parent_id]
    assert (parent.status, parent.phase, parent.over_since) == ("cancelled", "open", None)
    clock.shift(60)
    looked(bank)
    parent.refresh_from_db()
    assert (parent.phase, parent.children.get().status) == ("ended", "completed")


def test_what_nothing_happens_to_is_stuck(bank: Bank, demo: DemoServer, clock, settings) -> None:
    settings.STUCK_MINUTES = 30
    serve(bank, work=9_000)
    parent_id = submit(bank, "Ann waits.")
    clock.shift(10)
    looked(bank)
    clock.shift(29 * 60)
    looked(bank)
    assert not rows_of(bank)[parent_id].stuck
    clock.shift(120)
    assert rows_of(bank)[parent_id].stuck
    assert rows_of(bank)[parent_id].children.get().stuck


def test_by_a_clock_that_is_ahead_it_is_not_stuck_and_not_from_the_future(bank: Bank, clock) -> None:
    there = lambda: timezone.now() + timedelta(hours=3)  # noqa: E731
    demo = DemoServer(clock=there, pace=Pace(pickup=1, work=9000))
    connections.TRANSPORTS[bank.server.base_url] = DemoTransport(demo)
    parent_id = submit(bank, "Ann keeps the ledger.")
    looked(bank)
    row = rows_of(bank)[parent_id]
    assert row.began <= timezone.now()
    assert row.still_since <= timezone.now()
    del connections.TRANSPORTS[bank.server.base_url]


def test_what_ended_is_kept_for_a_day_and_failures_stay(bank: Bank, demo: DemoServer, clock) -> None:
    submit(bank, "Nothing. [[NOFACTS]]")
    failed = submit(bank, "[[FAIL]] Ann fails.")
    clock.shift(600)
    looked(bank)
    assert OperationSeen.objects.count() == 4
    clock.shift(25 * 3600)
    looked(bank)
    assert set(rows_of(bank)) == {failed, rows_of(bank)[failed].children.get().operation_id}
    clock.shift(1)
    assert looked(bank) == "0 new, 0 changed"  # old ones are not taken up again


def test_rows_are_bounded_per_bank(bank: Bank, demo: DemoServer, clock, monkeypatch) -> None:
    monkeypatch.setattr(store, "ENDED_KEPT", 2)
    for _ in range(4):
        submit(bank, "Nothing. [[NOFACTS]]")
        clock.shift(5)
    looked(bank)
    assert OperationSeen.objects.filter(parent=None).count() == 2


def test_one_that_was_forgotten_on_the_server_is_gone_and_then_dropped(bank: Bank, demo: DemoServer, clock) -> None:
    failed = submit(bank, "[[FAIL]] Ann fails.")
    clock.shift(600)
    looked(bank)
    with connections.client_for(bank.server) as client:
        for each in (failed, on_server(bank, failed).children[0].id):
            client.delete_operation(bank.bank_id, each)
    looked(bank)
    assert {(row.status, row.phase) for row in rows_of(bank).values()} == {("not_found", "gone")}
    clock.shift(25 * 3600)
    looked(bank)
    assert not OperationSeen.objects.exists()


def saying(bank: Bank, *operations: dict[str, object], total: int = 0) -> list[str]:
    """A server that lists these. Returns the paths it was asked for."""
    asked: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(request.url.raw_path.decode())
        listed = request.url.path.endswith("/operations")
        rows = [each for each in operations if request.url.params.get("status", each["status"]) == each["status"]]
        count = len(rows) if "status" in request.url.params else total or len(rows)
        data = {"operations": rows, "total": count} if listed else operations[0]
        return httpx.Response(200, content=json.dumps(data), headers={"content-type": "application/json"})

    connections.TRANSPORTS[bank.server.base_url] = httpx.MockTransport(answer)
    return asked


@pytest.fixture
def hostile(bank: Bank) -> Iterator[None]:
    yield
    connections.TRANSPORTS.pop(bank.server.base_url, None)


def test_unknown_words_are_kept_and_have_not_ended(bank: Bank, hostile: None) -> None:
    saying(bank, {"id": "a", "task_type": "dream", "status": "paused by moon"})
    looked(bank)
    row = OperationSeen.objects.get()
    assert (row.type, row.status, row.phase) == ("dream", "paused by moon", "open")


def test_hostile_values_fit_into_a_row(bank: Bank, hostile: None, clock) -> None:
    long = "x\x00\ud83d" * 9_000
    saying(bank, {"id": long, "task_type": long, "status": long, "error_message": long, "document_id": long})
    looked(bank)
    row = OperationSeen.objects.get()
    assert len(row.operation_id) <= 64
    assert "\x00" not in row.error
    assert "…" in row.error
    clock.shift(1)
    assert looked(bank) == "0 new, 0 changed"


def test_where_one_page_is_not_all_it_is_asked_by_status(bank: Bank, hostile: None) -> None:
    asked = saying(bank, {"id": "a", "status": "completed"}, total=9_000)
    looked(bank)
    assert [path.partition("status=")[2].partition("&")[0] for path in asked] == ["", "pending", "processing", "failed"]
    asked.clear()
    looked(bank)
    assert len(asked) == 1  # nothing is open, and it was asked just before


def test_a_busy_bank_is_read_by_a_bounded_number_of_calls(bank: Bank, hostile: None) -> None:
    asked = saying(
        bank, *[{"id": f"p{number}", "task_type": "batch_retain", "status": "pending"} for number in range(90)]
    )
    looked(bank)
    assert len(asked) == 61


@pytest.mark.parametrize(("status", "word"), [(401, "Refused"), (503, "Busy"), (500, "ServerFault"), (404, "NotFound")])
def test_a_look_that_fails_says_so_and_keeps_what_is_known(bank: Bank, hostile: None, status: int, word: str) -> None:
    make_operation(bank)
    before = OperationLook.objects.get().looked_at
    connections.TRANSPORTS[bank.server.base_url] = httpx.MockTransport(
        lambda request: httpx.Response(status, json={"detail": "no"})
    )
    assert looked(bank) == "failed"
    found = OperationLook.objects.get()
    assert (word in found.error, found.looked_at, OperationSeen.objects.count()) == (True, before, 1)
    assert found.look_after > timezone.now()


def test_who_is_due_and_who_is_left_alone(bank: Bank, server: Server, demo: DemoServer, clock) -> None:
    submit(bank, "Ann keeps the ledger.")
    assert look.due() == [bank.pk]
    looked(bank)
    assert look.due() == []
    assert look.look(bank.pk) == "not due"
    clock.shift(3)
    assert look.ask([bank.pk]) == 1
    assert look.due() == [bank.pk]
    assert look.ask([bank.pk]) == 0
    Server.objects.update(health=Server.Health.REFUSED)
    assert look.due() == []


def test_a_bank_that_is_gone_is_noticed_and_left_alone(bank: Bank, demo: DemoServer, clock) -> None:
    assert looked(bank) == "failed"
    bank.refresh_from_db()
    assert bank.gone_since == timezone.now()
    clock.shift(3600)
    assert look.due() == []


def test_it_is_looked_quickly_while_something_moves_and_patiently_when_nothing_does(
    bank: Bank, demo: DemoServer, clock
) -> None:
    def pause() -> float:
        looked(bank)
        return (OperationLook.objects.get().look_after - timezone.now()).total_seconds()

    serve(bank, work=90_000)
    submit(bank, "Ann waits.")
    clock.shift(2)
    assert 9 <= pause() <= 11
    clock.shift(120)
    assert 27 <= pause() <= 33
    clock.shift(1800)
    assert 54 <= pause() <= 66
    clock.shift(4 * 3600)
    assert 270 <= pause() <= 330

"""All that waits for a bank goes out together: in order, once, and one document at a time."""

import uuid
from functools import partial

import pytest
import time_machine
from django.db import transaction
from django.utils import timezone

from banks import connections, writes
from banks.models import Bank, RetainItem, Server, Write
from banks.retain import flush
from banks.writes import worker
from tests import factories
from tests.banks.conftest import LyingTransport, later, store
from tests.banks.retaining import Keeping, flush_now, in_bank, put, sent, states, text_of, work_off
from tests.conftest import People
from tests.racing import ROUNDS, at_once

pytestmark = pytest.mark.django_db(transaction=True)
State = Write.State


def batches(bank: Bank) -> list[list[str]]:
    return [[item.content.text for item in write.items.order_by("pk")] for write in sent(bank)]


def test_five_seconds_after_the_first_all_that_waits_goes_out(bank: Bank, people: People, wire: Keeping) -> None:
    with time_machine.travel(timezone.now(), tick=False) as clock:
        put(people.reviewer, bank, "one")
        clock.shift(4.0)
        put(people.reviewer, bank, "two", "three")
        assert flush.flush(bank.pk) == "not due"
        clock.shift(1.0)
        assert flush.flush(bank.pk) == "3 in 1"
        assert flush.flush(bank.pk) == "one is on its way"
    assert batches(bank) == [["one", "two", "three"]]
    work_off(bank)
    (body,) = wire.bodies
    (write,) = sent(bank)
    assert (body["async"], body["operation_id"]) == (True, str(write.operation_id))
    assert [item["content"] for item in body["items"]] == ["one", "two", "three"]
    assert all(item["document_id"] and item["timestamp"] for item in body["items"])
    assert (write.state, write.outcome["memories"], states(bank)) == (State.DONE, 3, ["done"] * 3)
    assert len(in_bank(bank)) == 4  # one was there before


def test_sixteen_do_not_wait(bank: Bank, people: People, wire: Keeping) -> None:
    put(people.reviewer, bank, *[f"text {number}" for number in range(15)])
    assert flush.flush(bank.pk) == "not due"
    put(people.reviewer, bank, "the sixteenth")
    assert flush.flush(bank.pk) == "16 in 1"


def test_what_comes_while_one_is_on_its_way_goes_out_together_afterwards(
    bank: Bank, people: People, wire: Keeping
) -> None:
    put(people.reviewer, bank, *[f"first {number}" for number in range(16)])
    flush.flush(bank.pk)
    for number in range(40):
        put(people.reviewer, bank, f"second {number}")
    assert flush.flush(bank.pk) == "one is on its way"
    work_off(bank)
    assert [len(batch) for batch in batches(bank)] == [16, 40]
    assert [item for batch in batches(bank) for item in batch] == [
        *[f"first {number}" for number in range(16)],
        *[f"second {number}" for number in range(40)],
    ]


def test_the_next_does_not_wait_for_the_servers_work(bank: Bank, people: People, wire: Keeping) -> None:
    put(people.reviewer, bank, *["[[SLOW:60]] Ann reads."] * 16)
    flush.flush(bank.pk)
    (first,) = sent(bank)
    assert worker.run(first.pk) == "accepted"
    put(people.reviewer, bank, *["Ben reads."] * 16)
    assert flush.flush(bank.pk) == "16 in 1"
    assert worker.run(sent(bank)[1].pk) == "accepted"


def test_each_way_of_storing_goes_by_itself(bank: Bank, people: People, wire: Keeping) -> None:
    put(people.reviewer, bank, {"content": "a", "strategy": "x"}, "b", {"content": "c", "strategy": "x"})
    put(people.reviewer, bank, "d", document_tags=["t"])
    put(people.reviewer, bank, {"content": "e", "document_id": "notes/a.md", "update_mode": "append"}, "f")
    put(people.reviewer, bank, "g", "h", operation_id=(operation := uuid.uuid4()))
    work_off(bank)
    assert batches(bank) == [["a", "c"], ["b", "f"], ["d"], ["e"], ["g", "h"]]
    assert [body.get("document_tags") for body in wire.bodies] == [None, None, ["t"], None, None]
    assert [{item.get("strategy") for item in body["items"]} for body in wire.bodies][:2] == [{"x"}, {None}]
    assert wire.bodies[-1]["operation_id"] == str(operation)
    assert text_of(bank, "notes/a.md") == "Ann keeps the ledger. Ben reads it.\ne"
    assert set(states(bank)) == {"done"}


def test_no_request_has_a_document_twice_and_the_last_text_stays(bank: Bank, people: People, wire: Keeping) -> None:
    put(
        people.reviewer,
        bank,
        {"content": "Version 1.", "document_id": "d"},
        "Another.",
        {"content": "Version 2.", "document_id": "d"},
        {"content": "Version 3.", "document_id": "d"},
    )
    work_off(bank)
    assert batches(bank) == [["Version 1.", "Another."], ["Version 2."], ["Version 3."]]
    assert text_of(bank, "d") == "Version 3."
    assert states(bank) == ["done"] * 4


def test_a_request_is_never_too_large(
    bank: Bank, people: People, wire: Keeping, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flush, "MOST_BYTES", 10)
    put(people.reviewer, bank, "12345678", "123", "12345", "1")
    work_off(bank)
    assert batches(bank) == [["12345678"], ["123", "12345", "1"]]


def test_an_operation_that_was_given_a_name_is_never_torn(
    bank: Bank, people: People, wire: Keeping, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flush, "MOST_ITEMS", 3)
    put(people.reviewer, bank, "a", "b")
    put(people.reviewer, bank, "c", "d", operation_id=uuid.uuid4())
    work_off(bank)
    assert batches(bank) == [["a", "b"], ["c", "d"]]


def test_a_memory_waits_for_what_is_under_way_on_its_document(bank: Bank, people: People, wire: Keeping) -> None:
    with transaction.atomic():
        delete = writes.record(kind="delete", bank=bank, via=Write.Via.WEB, document_id="notes/a.md")
    put(people.reviewer, bank, {"content": "New words.", "document_id": "notes/a.md"}, "Another.")
    assert flush_now(bank) == "1 in 1"
    assert batches(bank) == [["Another."]]
    work_off(bank)
    delete.refresh_from_db()
    assert delete.state == State.DONE
    assert text_of(bank, "notes/a.md") == "New words."


def test_the_next_batch_is_put_together_by_who_sent_the_one_before(
    bank: Bank, people: People, wire: Keeping, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(people.reviewer, bank, *["first"] * 16)
    flush.flush(bank.pk)
    put(people.reviewer, bank, *["second"] * 16)
    told: list[int] = []
    monkeypatch.setattr(flush, "nudge", lambda bank_id, delay=0.0: told.append(bank_id) or True)
    assert worker.run(sent(bank)[0].pk) == "accepted"
    assert [len(texts) for texts in batches(bank)] == [16, 16]
    put(people.reviewer, bank, "alone")
    assert worker.run(sent(bank)[1].pk) == "accepted"
    assert (len(batches(bank)), told[1:]) == (2, [])  # it waits for company, which its first message ends


def test_a_delete_waits_for_the_batch_that_has_its_document(bank: Bank, people: People, wire: Keeping) -> None:
    put(people.reviewer, bank, {"content": "[[SLOW:30]] New words.", "document_id": "notes/a.md"})
    flush_now(bank)
    (batch,) = sent(bank)
    with transaction.atomic():
        delete = writes.record(kind="delete", bank=bank, via=Write.Via.WEB, document_id="notes/a.md")
    assert worker.run(delete.pk) == "document busy"
    assert worker.run(batch.pk) == "accepted"
    assert worker.run(delete.pk) == "document busy"
    delete.refresh_from_db()
    assert (delete.state, delete.attempts) == (State.QUEUED, 0)
    work_off(bank)
    assert "notes/a.md" not in in_bank(bank)


def test_a_batch_and_a_change_of_its_document_are_never_in_flight_together(
    bank: Bank, people: People, line: LyingTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both look as free: neither has seen the other when it claims."""
    for number in range(ROUNDS):
        document_id = f"race {number}"
        store(bank, document_id, "Old words.")
        (item,) = put(people.reviewer, bank, {"content": "New words.", "document_id": document_id})
        with transaction.atomic():
            delete = writes.record(kind="delete", bank=bank, via=Write.Via.WEB, document_id=document_id)
            batch = writes.record(kind="retain", bank=bank, via=Write.Via.API)
        RetainItem.objects.filter(pk=item.pk).update(state="sent", write=batch)
        if number % 2:  # the other order
            Write.objects.filter(pk=batch.pk).update(not_before=timezone.now())
            Write.objects.filter(pk=delete.pk).update(not_before=timezone.now())
        in_flight: list[int] = []

        def look(in_flight: list[int] = in_flight, document_id: str = document_id) -> None:
            in_flight.append(Write.objects.filter(bank=bank, state=State.SENDING, sent__isnull=False).count())

        line.before_call["DELETE"] = line.before_call["POST"] = look
        at_once(partial(worker.run, delete.pk), partial(worker.run, batch.pk))
        work_off(bank)
        assert in_flight
        assert max(in_flight) <= 1
        assert text_of(bank, document_id) == "New words."


def test_two_workers_put_together_one_batch(bank: Bank, people: People) -> None:
    for _ in range(ROUNDS):
        put(people.reviewer, bank, *["text"] * 16)
        words = at_once(partial(flush.flush, bank.pk), partial(flush.flush, bank.pk))
        assert "16 in 1" in words
        (write,) = sent(bank)
        assert write.items.count() == 16
        RetainItem.objects.all().delete()
        Write.objects.all().delete()


def test_while_a_server_is_away_or_a_bank_is_gone_the_queue_is_kept(bank: Bank, people: People, wire: Keeping) -> None:
    put(people.reviewer, bank, *["text"] * 16)
    Server.objects.update(writes_paused=True)
    assert flush.flush(bank.pk) == "server closed"
    Server.objects.update(writes_paused=False, closed_until=timezone.now() + later(60))
    assert flush.flush(bank.pk) == "server closed"
    Server.objects.update(closed_until=timezone.now() - later(1), failures=connections.FAILURES_BEFORE_PAUSE)
    assert (flush.flush(bank.pk), flush.sweep()) == ("server closed", 0)
    connections.note_answer(Server.objects.get())
    Bank.objects.update(gone_since=timezone.now())
    assert (flush.flush(bank.pk), flush.sweep()) == ("bank gone", 0)
    Bank.objects.update(gone_since=None)
    assert states(bank) == ["queued"] * 16
    work_off(bank)
    assert states(bank) == ["done"] * 16


def test_the_sweep_tells_of_banks_whose_first_memory_has_waited_long_enough(
    bank: Bank, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[int] = []
    monkeypatch.setattr(flush, "nudge", lambda bank_id, delay=0.0: told.append(bank_id) or True)
    other = factories.make_bank(server=bank.server)
    put(people.operator, bank, "one")
    with time_machine.travel(timezone.now() + later(3), tick=False):
        put(people.operator, other, "two")
    told.clear()
    with time_machine.travel(timezone.now() + later(6), tick=False):
        assert (flush.sweep(), told) == (1, [bank.pk])
    with time_machine.travel(timezone.now() + later(10), tick=False):
        assert flush.sweep() == 2


def test_who_sent_them_is_in_the_row(bank: Bank, people: People, wire: Keeping) -> None:
    put(people.reviewer, bank, *["a"] * 16)
    flush.flush(bank.pk)
    work_off(bank)
    put(people.reviewer, bank, *["b"] * 8)
    put(people.owner, bank, *["c"] * 8)
    flush.flush(bank.pk)
    one, both = sent(bank)
    assert (one.actor, one.actor_name, one.via) == (people.reviewer, "Mira Kovač", "api")
    assert (both.actor, both.actor_name) == (None, "Mira Kovač, Ann Weber")

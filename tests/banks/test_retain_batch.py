"""A batch is sent once and watched to its end; what did not arrive waits for a person, and nothing else is repeated."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest
import time_machine
from django.utils import timezone

from banks import connections, hindsight, writes
from banks.models import Bank, RetainItem, Write
from banks.writes import worker
from memadmin.accounts.models import User
from tests.banks.conftest import LyingTransport, later, store
from tests.banks.retaining import flush_now, in_bank, put, sent, states, text_of, work_off
from tests.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)
State = Write.State


def batch(user: User, bank: Bank, *items: str | dict[str, Any]) -> Write:
    """One batch, put together and not sent yet."""
    put(user, bank, *items)
    flush_now(bank)
    return sent(bank)[-1]


def again(write: Write) -> Write:
    write.refresh_from_db()
    return write


def operations(line: LyingTransport) -> int:
    return line.server._store.number("SELECT count(*) FROM operations WHERE type = 'batch_retain'")


def test_an_answer_that_is_lost_is_asked_for_and_nothing_is_sent_again(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    before = operations(line)
    write = batch(people.reviewer, bank, "one", "two")
    line.cut_after.append("POST")
    assert worker.run(write.pk) == "unknown"
    assert states(bank) == ["sent"] * 2
    work_off(bank)
    assert (again(write).state, line.sent("POST"), operations(line) - before) == (State.DONE, 1, 1)
    assert states(bank) == ["done"] * 2


def test_what_never_arrived_is_sent_under_the_same_operation(bank: Bank, people: People, line: LyingTransport) -> None:
    before = operations(line)
    write = batch(people.reviewer, bank, "one")
    line.cut_before.append("POST")
    assert worker.run(write.pk) == "retrying"
    work_off(bank)
    assert (again(write).state, operations(line) - before) == (State.DONE, 1)
    with connections.client_for(bank.server) as client:
        assert client.get_operation(bank.bank_id, str(write.operation_id)).status == "completed"


@pytest.mark.parametrize("after", [True, False])
def test_a_worker_that_is_killed_loses_and_repeats_nothing(
    bank: Bank, people: People, line: LyingTransport, after: bool
) -> None:
    class Killed(BaseException):
        pass

    class Dying(httpx.BaseTransport):
        dead = False

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            if request.method != "POST" or self.dead:
                return line.handle_request(request)
            self.dead = True
            if after:
                line.handle_request(request)
            raise Killed

    before = operations(line)
    write = batch(people.reviewer, bank, "one", "two")
    connections.TRANSPORTS[bank.server.base_url] = Dying()
    with pytest.raises(Killed):
        worker.run(write.pk)
    assert again(write).state == State.SENDING
    work_off(bank, hours=0.1)
    assert (again(write).state, operations(line) - before, len(in_bank(bank))) == (State.DONE, 1, 3)


def test_what_is_appended_is_never_sent_again_by_itself(bank: Bank, people: People, line: LyingTransport) -> None:
    class Forgetful(httpx.BaseTransport):
        """Stores, answers nothing, and knows no operation: a server that was restored from a backup."""

        lost = False

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            if request.method == "POST" and not self.lost:
                self.lost = True
                raise httpx.ReadTimeout("no answer", request=request)
            return line.handle_request(request)

    connections.TRANSPORTS[bank.server.base_url] = Forgetful()
    more = {"content": "Carl came.", "document_id": "notes/a.md", "update_mode": "append"}
    write = batch(people.reviewer, bank, more)
    work_off(bank)
    assert (again(write).state, line.sent("POST")) == (State.ATTENTION, 0)
    assert "never sent again by itself" in write.error_text
    assert writes.retry(write=write, actor=people.reviewer)
    work_off(bank)
    assert text_of(bank, "notes/a.md") == "Ann keeps the ledger. Ben reads it.\nCarl came."
    assert (line.sent("POST"), states(bank)) == (1, ["done"])


def test_of_a_batch_that_failed_only_what_is_missing_is_sent_again(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    write = batch(people.reviewer, bank, "Ann came.", "[[FAILN:4:once]] Ben came.", "Carl came.")
    work_off(bank)
    assert again(write).state == State.ATTENTION
    assert "1 of 3 memories are in the bank" in write.error_text
    assert "forced failure" in write.error_text
    assert states(bank) == ["done", "attention", "attention"]
    (child,) = write.outcome["children"]
    assert (child["status"], "forced failure" in child["error"]) == ("failed", True)
    assert "forced failure" in RetainItem.objects.order_by("pk")[1].error
    assert writes.retry(write=write, actor=people.owner)
    old, new = sent(bank)
    assert (old.state, old.outcome["resent_as"], old.outcome["resent_by"]) == (State.CANCELLED, new.pk, "Ann Weber")
    assert [item.content.text for item in new.items.all()] == ["[[FAILN:4:once]] Ben came.", "Carl came."]
    assert new.operation_id != old.operation_id
    work_off(bank)
    assert (again(new).state, states(bank)) == (State.DONE, ["done"] * 3)
    assert not writes.retry(write=old, actor=people.owner)


def test_nothing_is_sent_again_while_a_part_of_it_may_run(bank: Bank, people: People, line: LyingTransport) -> None:
    write = batch(people.reviewer, bank, "[[SLOW:30]] Ann came.")
    assert worker.run(write.pk) == "accepted"
    Write.objects.filter(pk=write.pk).update(state=State.ATTENTION)  # as if somebody had given up on it
    RetainItem.objects.update(state="attention")
    assert writes.retry(write=again(write), actor=people.owner)
    new = sent(bank)[-1]
    assert worker.run(new.pk) == "waits"
    assert (again(new).state, new.attempts, new.outcome["waits_for"]) == (State.RETRYING, 0, str(write.operation_id))
    other = batch(people.reviewer, bank, "Ben came.")
    assert worker.run(other.pk) == "accepted"  # nothing else waits for it
    work_off(bank)
    assert (again(new).state, line.sent("POST"), states(bank)) == (State.DONE, 2, ["done"] * 2)


def test_a_newer_text_is_never_written_over_by_an_older_one(bank: Bank, people: People, line: LyingTransport) -> None:
    write = batch(people.reviewer, bank, {"content": "[[FAIL]] Version 1.", "document_id": "d"})
    work_off(bank)
    put(people.reviewer, bank, {"content": "Version 2.", "document_id": "d"})
    work_off(bank)
    assert not writes.retry(write=again(write), actor=people.owner)
    assert (again(write).state, text_of(bank, "d")) == (State.ATTENTION, "Version 2.")
    assert writes.discard(write=write, actor=people.owner)
    assert states(bank) == ["discarded", "done"]


def test_one_bad_memory_does_not_sink_the_others(bank: Bank, people: People, line: LyingTransport) -> None:
    class Strict(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            if request.method == "POST" and b"odd" in request.read():
                return httpx.Response(422, json={"detail": "no odd texts"})
            return line.handle_request(request)

    connections.TRANSPORTS[bank.server.base_url] = Strict()
    write = batch(people.reviewer, bank, "fine", "odd", "fine too")
    work_off(bank)
    assert (again(write).state, write.outcome["refused_whole"]) == (State.CANCELLED, "no odd texts")
    assert states(bank) == ["done", "attention", "done"]
    assert [row.state for row in sent(bank)] == [State.CANCELLED, State.DONE, State.ATTENTION, State.DONE]
    assert "no odd texts" in sent(bank)[2].error_text


def test_done_is_what_is_in_the_list_and_no_facts_are_told(bank: Bank, people: People, line: LyingTransport) -> None:
    write = batch(people.reviewer, bank, "Ann came. Ben left.", "[[NOFACTS]] ok thanks")
    work_off(bank)
    assert again(write).outcome == {
        "operation": str(write.operation_id),
        "memories": 2,
        "facts": 2,
        "zero_facts": 1,
        "status": "completed",
    }
    assert list(RetainItem.objects.order_by("pk").values_list("fact_count", flat=True)) == [2, 0]


def test_what_others_wrote_since_costs_pages_and_not_a_call_for_each(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    write = batch(people.reviewer, bank, *(f"Ann has {number} cats." for number in range(40)))
    worker.run(write.pk)
    with connections.client_for(bank.server) as client:
        client.get_operation(bank.bank_id, str(write.operation_id))  # lets the work be done
        since = [hindsight.RetainItem(f"Ben has {number} dogs.", f"d{number}") for number in range(250)]
        client.retain(bank.bank_id, since, operation_id=uuid4())
    line.server.settle()
    line.calls.clear()
    work_off(bank)
    assert again(write).state == State.DONE
    assert len([path for _, path in line.calls if "/documents?" in path]) < 10


def test_what_the_server_says_is_there_and_is_not_needs_a_person(
    bank: Bank, people: People, line: LyingTransport
) -> None:
    class Losing(httpx.BaseTransport):
        """Its lists never show what was stored."""

        def handle_request(self, request: httpx.Request) -> httpx.Response:
            if request.url.path.endswith("/documents"):
                return httpx.Response(200, json={"items": [], "total": 0})
            return line.handle_request(request)

    write = batch(people.reviewer, bank, "one")
    connections.TRANSPORTS[bank.server.base_url] = Losing()
    with time_machine.travel(timezone.now() + later(10), tick=False) as clock:
        worker.run(write.pk)
        for _ in range(3):
            clock.move_to(again(write).not_before + later(1))
            assert worker.run(write.pk) == "accepted"
    work_off(bank)
    assert (again(write).state, states(bank)) == (State.ATTENTION, ["attention"])
    assert "0 of 1 memories are in the bank" in write.error_text


def test_a_bank_that_is_gone_is_not_made_anew(bank: Bank, people: People, line: LyingTransport) -> None:
    write = batch(people.reviewer, bank, "one")
    with connections.client_for(bank.server) as client:
        client.delete_bank(bank.bank_id)
    assert worker.run(write.pk) == "attention"
    bank.refresh_from_db()
    with connections.client_for(bank.server) as client:
        assert not client.has_bank(bank.bank_id)
        assert (line.sent("POST"), bank.gone_since is not None, states(bank)) == (0, True, ["attention"])
        client.put_bank(bank.bank_id)
    Bank.objects.update(gone_since=None)
    assert writes.retry(write=again(write), actor=people.owner)
    work_off(bank)
    assert states(bank) == ["done"]


def test_a_parent_that_was_left_waiting_is_ended_by_its_parts(bank: Bank, people: People, line: LyingTransport) -> None:
    write = batch(people.reviewer, bank, "one")
    worker.run(write.pk)
    line.server.settle()
    line.server._store.run("UPDATE operations SET status = 'pending' WHERE id = ?", str(write.operation_id))
    work_off(bank)
    assert (again(write).state, states(bank)) == (State.DONE, ["done"])


def test_a_parent_without_parts_needs_a_person(bank: Bank, people: People, line: LyingTransport) -> None:
    write = batch(people.reviewer, bank, "one")
    worker.run(write.pk)
    line.server._store.run("DELETE FROM operations WHERE parent_id = ?", str(write.operation_id))
    line.server._store.run("UPDATE operations SET status = 'pending' WHERE id = ?", str(write.operation_id))
    line.server._store.run("DELETE FROM documents WHERE id LIKE 'memadmin-%'")
    with time_machine.travel(timezone.now() + timedelta(minutes=5), tick=False):
        assert worker.run(write.pk) == "accepted"
    with time_machine.travel(timezone.now() + timedelta(minutes=11), tick=False):
        assert worker.run(write.pk) == "attention"
    assert "made no part of it" in again(write).error_text


def test_a_text_of_somebody_else_is_not_taken_for_ours(bank: Bank, people: People, line: LyingTransport) -> None:
    store(bank, "d", "Theirs.")
    write = batch(people.reviewer, bank, {"content": "[[FAIL]] Ours.", "document_id": "d"})
    work_off(bank)
    assert (again(write).state, states(bank), text_of(bank, "d")) == (State.ATTENTION, ["attention"], "Theirs.")

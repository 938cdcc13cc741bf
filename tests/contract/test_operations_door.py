"""Our own rows of operations, and our acts on them, with each server: look, cancel, retry, forget, look again."""

import time
import uuid

import pytest
from django.db import transaction
from django.utils import timezone

from banks import operation_kinds, writes
from banks.models import Bank as BankRow
from banks.models import OperationLook, OperationSeen, Write
from banks.operations import look
from tests.contract.conftest import Bank, Target, registered, until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def row(target: Target, bank: Bank):
    with registered(target, bank) as row:
        yield row


def seen(row: BankRow, operation_id: str) -> OperationSeen:
    OperationLook.objects.update(look_after=timezone.now())
    assert look.look(row.pk) != "failed", OperationLook.objects.get().error
    return OperationSeen.objects.get(operation_id=operation_id)


def act(row: BankRow, kind: str, operation: OperationSeen) -> Write:
    with transaction.atomic():
        params = {"operation": operation.operation_id, "document": operation.document_id}
        write = writes.record(kind=f"operation-{kind}", bank=row, via=Write.Via.WEB, params=params)

    def step() -> str:
        writes.run(write.pk)
        write.refresh_from_db()
        if write.is_open:
            wait = (write.not_before - timezone.now()).total_seconds()
            time.sleep(min(max(wait, 0.0), 1.0))  # another program works meanwhile
        return write.state

    until(step, lambda state: state not in Write.OPEN)
    return write


def test_a_failing_retain_is_seen_cancelled_retried_and_forgotten(row: BankRow, bank: Bank) -> None:
    operation_id = bank.submit("bad", "[[FAIL]] Alice left.")
    parent = until(
        lambda: seen(row, operation_id), lambda parent: parent.children.filter(status="retrying", retry_count__gte=1)
    )
    child = parent.children.get()
    assert (child.document_id, child.phase, parent.phase) == ("bad", "open", "open")
    cancel = act(row, "cancel", child)
    assert (cancel.state, cancel.outcome["status"]) == ("done", "cancelled")
    parent = seen(row, operation_id)
    assert {(each.status, each.phase) for each in (parent, parent.children.get())} == {("cancelled", "ended")}
    retry = act(row, "retry", parent.children.get())
    assert retry.state == "attention"
    assert "It ran again and failed again" in retry.error_text
    for each in (seen(row, operation_id).children.get(), parent):
        assert act(row, "forget", each).outcome["said"] == operation_kinds.FORGOT
    assert not OperationSeen.objects.filter(document_id="bad").exists()


def test_what_works_is_cancelled_and_the_log_says_that_it_was_stored(row: BankRow, bank: Bank, target: Target) -> None:
    key = uuid.uuid4().hex
    operation_id = bank.submit("slow", f"[[SLOW:2:{key}]] Alice works at Acme.")
    parent = until(lambda: seen(row, operation_id), lambda parent: parent.children.filter(status="processing"))
    target.works(key)
    cancel = act(row, "cancel", parent.children.get())
    assert (cancel.state, cancel.outcome["stored"]) == ("done", True)
    assert "its document was stored within" in cancel.outcome["said"]

"""Background work: how it is listed, and what cancelling, retrying and forgetting it really do."""

import re
import uuid

import pytest

from banks.hindsight import Conflict, Invalid, NotFound, RetainItem
from tests.contract.conftest import until

FAILS = "[[FAIL]] Alice left."
NOTHING_LEFT = "is a batch_retain parent with no incomplete sub-batches to retry"


def child_of(bank, operation_id):
    """The child of a retain of one document, read by itself."""
    return bank.client.get_operation(bank.id, bank.client.get_operation(bank.id, operation_id).children[0].id)


def waiting(bank, document_id="bad"):
    """(parent id, child) of a retain that has failed once and waits for its next attempt."""
    operation_id = bank.submit(document_id, FAILS)
    return operation_id, until(lambda: child_of(bank, operation_id), lambda child: child.status == "retrying")


def running(bank, target, document_id="slow", seconds=1):
    key = uuid.uuid4().hex
    operation_id = bank.submit(document_id, f"[[SLOW:{seconds}:{key}]] Alice works at Acme.")
    child = until(lambda: child_of(bank, operation_id), lambda child: child.raw_status == "processing")
    target.works(key)
    return operation_id, child


def test_parents_and_children_are_listed_by_every_filter(bank):
    for number in range(3):
        bank.store(f"d{number}", "Nothing. [[NOFACTS]]")
    failed = bank.wait(bank.submit("bad", FAILS))
    listed = bank.client.list_operations
    assert listed(bank.id, type="batch_retain", exclude_parents=False).total == 4
    assert listed(bank.id, type="batch_retain").total == 0
    children = listed(bank.id, type="retain")
    assert [row.document_id for row in children.items] == ["bad", "d2", "d1", "d0"]
    assert [row.items for row in children.items] == [1, 1, 1, 1]
    assert {row.id for row in listed(bank.id, status="failed", exclude_parents=False).items} == {
        failed.id,
        failed.children[0].id,
    }
    assert listed(bank.id, status="failed", type="consolidation").total == 0
    page = listed(bank.id, type="retain", limit=2, offset=1)
    assert ([row.document_id for row in page.items], page.total) == (["d2", "d1"], 4)
    assert listed(bank.id, limit=5, offset=99).items == []


def test_no_page_is_larger_than_a_hundred(bank):
    with pytest.raises(Invalid) as caught:
        bank.client.list_operations(bank.id, limit=101)
    assert caught.value.status == 422


def test_lists_of_an_unknown_bank_say_that_the_bank_is_missing(bank):
    with pytest.raises(NotFound) as caught:
        bank.client.list_operations(f"never-{uuid.uuid4().hex}")
    assert caught.value.what == "bank"


def test_a_child_names_its_parent_and_a_parent_its_children(bank):
    items = [RetainItem("Nothing. [[NOFACTS]]", f"k{number}") for number in range(3)]
    done = bank.wait(bank.client.retain(bank.id, items, operation_id=uuid.uuid4()).operation_id)
    child = bank.client.get_operation(bank.id, done.children[0].id)
    assert (child.parent_id, child.type, child.children) == (done.id, "retain", [])
    assert (done.parent_id, done.items, done.document_id) == ("", 3, "")
    assert child.moved_at >= child.created_at


def test_a_failing_operation_waits_with_its_error_count_and_next_time(bank):
    operation_id, child = waiting(bank)
    assert (child.raw_status, child.retry_count >= 1, "forced failure" in child.error) == ("pending", True, True)
    assert child.next_retry_at > child.created_at
    parent = bank.client.get_operation(bank.id, operation_id)
    assert (parent.status, parent.error, parent.next_retry_at) == ("pending", "", None)
    bank.client.cancel_operation(bank.id, child.id)


def test_a_child_that_waits_is_really_cancelled_and_its_parent_with_it(bank):
    operation_id, child = waiting(bank)
    bank.client.cancel_operation(bank.id, child.id)
    parent = bank.wait(operation_id)
    assert (parent.raw_status, parent.children[0].status) == ("cancelled", "cancelled")
    assert parent.completed_at is None
    assert bank.client.find_document(bank.id, "bad") is None
    for each in (operation_id, child.id):
        with pytest.raises(Conflict) as caught:
            bank.client.cancel_operation(bank.id, each)
        assert caught.value.detail == (
            f"Operation {each} cannot be cancelled: status is 'cancelled', "
            "only 'pending' and 'processing' operations can be cancelled"
        )


def test_a_child_that_works_is_marked_cancelled_and_stores_its_facts_all_the_same(bank, target):
    operation_id, child = running(bank, target, seconds=3)
    bank.client.cancel_operation(bank.id, child.id)
    assert bank.wait(operation_id).raw_status == "cancelled"
    assert bank.client.find_document(bank.id, "slow") is None
    until(lambda: bank.client.find_document(bank.id, "slow"), bool)
    assert child_of(bank, operation_id).raw_status == "cancelled"  # what it did changes its status no more


def test_cancelling_a_parent_leaves_its_waiting_child_alone(bank):
    operation_id, child = waiting(bank)
    bank.client.cancel_operation(bank.id, operation_id)
    assert bank.client.get_operation(bank.id, child.id).raw_status in {"pending", "processing", "failed"}
    assert bank.wait(operation_id).raw_status == "cancelled"
    assert bank.client.get_operation(bank.id, child.id).raw_status == "failed"


def test_a_retry_of_a_failed_parent_starts_its_children_and_forgets_the_errors(bank):
    operation_id = bank.submit("bad", FAILS)
    failed = bank.wait(operation_id)
    bank.client.retry_operation(bank.id, operation_id)
    parent, child = bank.client.get_operation(bank.id, operation_id), child_of(bank, operation_id)
    assert (parent.raw_status, parent.error) == ("pending", "")
    assert child.raw_status in {"pending", "processing"}
    assert child.id == failed.children[0].id
    bank.wait(operation_id)


def test_a_retry_of_a_failed_child_mends_its_parent(bank, target):
    times = {"demo": 5, "real": 9}[target.name]  # the real server asks its model twice in each of the four attempts
    operation_id = bank.submit("late", f"[[FAILN:{times}:{uuid.uuid4().hex[:8]}]] Alice came.")
    assert bank.wait(operation_id).raw_status == "failed"
    child = child_of(bank, operation_id)
    bank.client.retry_operation(bank.id, child.id)
    parent = until(lambda: bank.client.get_operation(bank.id, operation_id), lambda row: row.raw_status == "completed")
    assert parent.children[0].status == "completed"
    assert bank.client.find_document(bank.id, "late") is not None


def test_a_retry_of_what_waits_runs_it_now(bank):
    _, child = waiting(bank)
    bank.client.retry_operation(bank.id, child.id)
    now = bank.client.get_operation(bank.id, child.id)
    assert now.raw_status in {"pending", "processing"}
    assert now.retry_count <= 1
    bank.client.cancel_operation(bank.id, child.id)


def test_a_cancelled_child_can_be_retried_and_its_parent_stays_cancelled(bank, target):
    operation_id, child = running(bank, target, "late")
    bank.client.cancel_operation(bank.id, child.id)
    bank.client.retry_operation(bank.id, child.id)
    until(lambda: child_of(bank, operation_id), lambda row: row.raw_status == "completed")
    assert bank.client.get_operation(bank.id, operation_id).raw_status == "cancelled"
    assert bank.client.find_document(bank.id, "late") is not None
    with pytest.raises(Conflict, match=NOTHING_LEFT):
        bank.client.retry_operation(bank.id, operation_id)


def test_a_cancelled_parent_is_revived_while_a_child_has_not_completed(bank):
    operation_id, child = waiting(bank)
    bank.client.cancel_operation(bank.id, child.id)
    bank.client.retry_operation(bank.id, operation_id)
    assert bank.client.get_operation(bank.id, operation_id).raw_status == "pending"
    assert bank.wait(operation_id).raw_status == "failed"


def test_a_retry_of_work_that_runs_is_refused_for_the_child_and_does_nothing_to_the_parent(bank, target):
    operation_id, child = running(bank, target, seconds=3)
    with pytest.raises(Conflict) as caught:
        bank.client.retry_operation(bank.id, child.id)
    assert caught.value.detail == (
        f"Operation {child.id} cannot be retried: status is 'processing', expected 'failed', 'cancelled' or deferred"
    )
    bank.client.retry_operation(bank.id, operation_id)
    assert child_of(bank, operation_id).raw_status == "processing"
    assert bank.wait(operation_id).raw_status == "completed"


def test_a_completed_operation_has_nothing_to_retry(bank):
    done = bank.store("d", "Nothing. [[NOFACTS]]")
    with pytest.raises(Conflict, match=NOTHING_LEFT):
        bank.client.retry_operation(bank.id, done.id)
    with pytest.raises(Conflict, match="cannot be retried: status is 'completed', expected 'failed'"):
        bank.client.retry_operation(bank.id, done.children[0].id)


def test_only_what_has_ended_is_forgotten_and_no_fact_with_it(bank):
    done = bank.store("d", "Alice works at Acme.")
    operation_id, child = waiting(bank)
    for each in (operation_id, child.id):
        with pytest.raises(Conflict) as caught:
            bank.client.delete_operation(bank.id, each)
        said = rf"Operation {each} cannot be deleted: status is '\w+', expected 'failed', 'cancelled' or 'completed'"
        assert re.fullmatch(said, caught.value.detail)
    bank.client.cancel_operation(bank.id, child.id)
    for each in (done.id, operation_id, child.id):
        bank.client.delete_operation(bank.id, each)
        assert bank.client.get_operation(bank.id, each).not_found
    assert bank.client.get_operation(bank.id, done.children[0].id).raw_status == "completed"
    assert set(bank.facts("d")) == {"Alice works at Acme."}
    with pytest.raises(NotFound) as missing:
        bank.client.delete_operation(bank.id, done.id)
    assert missing.value.what == "operation"

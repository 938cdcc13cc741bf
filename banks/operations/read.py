"""Asking one server for the operations of one bank, by a bounded number of calls.

A list names no parents, and a row that moved on may stand on no page that is read. So those that have not ended, or
whose children are not known, are read by themselves as well, the longest unread first.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from banks.hindsight import BadAnswer, HindsightClient, NotAddressable, Operation, ServerFault
from banks.hindsight.operations import TERMINAL_STATUSES

OPEN_READ = 500  # of each status that has not ended
FAILED_READ = 200
READ_SINGLY = 60  # operations in one look
PARENT = "batch_retain"
# What may be wrong with one operation alone: it stays as the list told of it, and holds up no other. More are a fault
# of the server.
MOST_UNREADABLE = 3
_OF_ONE = (BadAnswer, NotAddressable, ServerFault)


@dataclass(frozen=True)
class Known:
    """What is known of an operation from earlier looks. `linked`: its children, or its parent, are known."""

    id: str
    linked: bool
    open: bool
    failed: bool


@dataclass
class Found:
    """`by_id`: all that was read; `single`: the ids of those that were read by themselves."""

    by_id: dict[str, Operation] = field(default_factory=dict)
    single: set[str] = field(default_factory=set)
    open_total: int | None = None
    failed_total: int | None = None
    read_all: bool = False

    def add(self, operations: Iterable[Operation]) -> None:
        self.by_id.update((each.id, each) for each in operations)


def read(
    client: HindsightClient, bank_id: str, known: list[Known], *, read_all: bool, since: datetime | None = None
) -> Found:
    """`known`: the longest unread first. `read_all`: ask by status too, where the newest page is not all there is.

    Of what had ended by `since` nothing more is asked.
    """
    found = Found()
    newest = client.list_operations(bank_id, exclude_parents=False)
    found.add(newest.items)
    if newest.total <= len(newest.items):
        found.read_all = True
        found.open_total = sum(each.raw_status not in TERMINAL_STATUSES for each in newest.items)
        found.failed_total = sum(each.raw_status == "failed" for each in newest.items)
    elif read_all:
        _by_status(client, bank_id, found)
    _singly(client, bank_id, found, known, since)
    return found


def _by_status(client: HindsightClient, bank_id: str, found: Found) -> None:
    totals = {}
    for status, most in (("pending", OPEN_READ), ("processing", OPEN_READ), ("failed", FAILED_READ)):
        page = client.walk_operations(bank_id, status=status, most=most)
        found.add(page.items)
        totals[status] = page.total if "status" not in page.ignored_params else 0
    found.read_all = True
    found.open_total, found.failed_total = totals["pending"] + totals["processing"], totals["failed"]


def _singly(client: HindsightClient, bank_id: str, found: Found, known: list[Known], since: datetime | None) -> None:
    linked = {each.id for each in known if each.linked}
    batches = [each for each in found.by_id.values() if each.type == PARENT and not _is_past(each, since)]
    parents = {each.id: each.terminal for each in batches}
    away = [each for each in known if each.id not in found.by_id]
    wanted = [each.id for each in away if each.open]
    wanted += [each for each in parents if each not in linked]
    wanted += [each.id for each in known if parents.get(each.id) is False]
    if found.read_all:  # it was retried, or deleted
        wanted += [each.id for each in away if each.failed]
    unreadable = 0
    for operation_id in list(dict.fromkeys(wanted))[:READ_SINGLY]:
        try:
            found.by_id[operation_id] = client.get_operation(bank_id, operation_id)
        except _OF_ONE:
            unreadable += 1
            if unreadable > MOST_UNREADABLE:
                raise
        else:
            found.single.add(operation_id)


def _is_past(operation: Operation, since: datetime | None) -> bool:
    ended = operation.completed_at or operation.moved_at
    return operation.terminal and not operation.failed and since is not None and ended is not None and ended < since

"""The door: nothing changes a bank except through the write log.

A row is stored first (`record`), a worker sends it (`run`), the outcome is confirmed by reading back, and what
could not be confirmed says so. See docs/adr/0002 for why the row, not the message, is the queue.
"""

from banks.writes.actions import cancel, discard, retry
from banks.writes.kind import (
    Accepted,
    ChangedSinceDecided,
    Done,
    Kind,
    Misplaced,
    NotDone,
    Overruled,
    Replaced,
    StillWorking,
    Stuck,
)
from banks.writes.record import record
from banks.writes.registry import after, get, names, register
from banks.writes.worker import run

__all__ = [
    "Accepted",
    "ChangedSinceDecided",
    "Done",
    "Kind",
    "Misplaced",
    "NotDone",
    "Overruled",
    "Replaced",
    "StillWorking",
    "Stuck",
    "after",
    "cancel",
    "discard",
    "get",
    "names",
    "record",
    "register",
    "retry",
    "run",
]

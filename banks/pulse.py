"""Short claims that live as long as their worker: renewed beside the work, free again soon after a kill.

A claim is a row's "until then it is mine". Without a pulse it would have to outlast the slowest call, and what a killed
worker held would wait as long. The pulse is no lock: each claim carries a token, and a worker that lost its claim
stores nothing, whatever the clocks say.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection

logger = logging.getLogger(__name__)

BEATS_PER_CLAIM = 3  # two may be late before the claim is lost


def claim_time() -> timedelta:
    """How long a claim lasts without a beat. A killed worker's rows are taken up again after that."""
    return timedelta(seconds=settings.CLAIM_SECONDS)


@contextmanager
def held(renew: Callable[[], bool], *, at_most: timedelta | None = None) -> Iterator[None]:
    """Calls `renew` now and then while the body runs; it stops when `renew` says that the claim is lost.

    `at_most`: a body that hangs for ever must not keep its row for ever. Work that ends within a third of the claim
    time costs no renewal at all. When the body has ended no renewal is under way. Not to be entered or left inside a
    transaction: a renewal may be waiting for its end.
    """
    over = threading.Event()
    last = None if at_most is None else time.monotonic() + at_most.total_seconds()
    beating = threading.Thread(target=_beat, args=(renew, over, last), name="pulse", daemon=True)
    beating.start()
    try:
        yield
    finally:
        over.set()
        beating.join()


def _beat(renew: Callable[[], bool], over: threading.Event, last: float | None) -> None:
    while not over.wait(settings.CLAIM_SECONDS / BEATS_PER_CLAIM):
        if last is not None and time.monotonic() > last:
            logger.warning("work goes on for too long: its claim is not renewed any more")
            return
        try:
            if not renew():
                return
        except DatabaseError as error:  # locked or away: the next beat tries again
            logger.warning("a claim could not be renewed (%s)", type(error).__name__)
        finally:
            connection.close()  # this thread's own

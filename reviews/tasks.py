"""Celery tasks of the review desk. Each takes ids, calls a service and returns a short word; each may run twice."""

import logging
from typing import Any

from celery import shared_task
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)


@shared_task(name="reviews.tasks.sweep_loads")
def sweep_loads() -> int:
    """Idempotent: each entry is claimed by conditional update before it is loaded."""
    from reviews.services import load_due

    return load_due.run()


@shared_task(name="reviews.tasks.sweep_screening")
def sweep_screening() -> int:
    """Idempotent: screening a text twice stores the same rows."""
    from reviews.services import screening_due

    return screening_due.run()


@shared_task(name="reviews.tasks.expire")
def expire() -> int:
    """Idempotent: each entry is approved by a conditional update; two beats give one log row per document."""
    from reviews.services import expiry

    return expiry.run().count


@shared_task(name="reviews.tasks.number_decisions")
def number_decisions() -> int:
    """Idempotent: a decision is numbered once, and of two beats at once the slower one stores nothing."""
    from reviews.services import feed

    return feed.number()


@shared_task(name="reviews.tasks.watch_queue_file")
def watch_queue_file() -> str:
    """Idempotent: a look claims the file by conditional update, and reading a line twice changes nothing."""
    from reviews import watching

    return watching.look()


@shared_task(name="reviews.tasks.poll_bank")
def poll_bank(bank_id: int) -> str:
    """Idempotent: `poll` claims the bank by conditional update, and a document met twice is one entry."""
    from reviews.services import poll

    return poll.poll(bank_id)


@shared_task(name="reviews.tasks.sweep_polls")
def sweep_polls() -> int:
    """Idempotent: tells a worker about each bank that wants to be looked at; the claim decides who does it."""
    from reviews.services import poll

    return _tell(poll_bank, poll.due())


@shared_task(name="reviews.tasks.sweep_webhooks")
def sweep_webhooks() -> int:
    """Idempotent: each delivery is claimed by conditional update, and a document met twice is one entry."""
    from reviews.services import told

    return told.run()


@shared_task(name="reviews.tasks.sweep_notices")
def sweep_notices() -> int:
    """Idempotent: one row for each mail of a day, and each row is taken by conditional update."""
    from reviews.services import notices, outgoing

    notices.plan()
    outgoing.plan()
    return notices.send_due() + outgoing.send_due()


def _tell(task: Any, ids: list[int]) -> int:
    """One message each. What is not told because the broker is away waits for the next sweep."""
    for each in ids:
        try:
            task.delay(each)
        except (OperationalError, OSError):
            logger.warning("the broker does not answer: %s waits for the next sweep", task.name)
            break
    return len(ids)

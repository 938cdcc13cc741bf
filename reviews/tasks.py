"""Celery tasks of the review desk. Each takes ids, calls a service and returns a short word; each may run twice."""

import logging

from celery import shared_task
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)


@shared_task(name="reviews.tasks.load_entry")
def load_entry(entry_id: int) -> str:
    """Idempotent: `load` claims the entry by conditional update."""
    from reviews.services import load

    return load.load(entry_id)


@shared_task(name="reviews.tasks.sweep_loads")
def sweep_loads() -> int:
    """Idempotent: tells a worker about each entry that wants to be loaded; the claim decides who does it."""
    from reviews.services import load

    entry_ids = load.due()
    for entry_id in entry_ids:
        try:
            load_entry.delay(entry_id)
        except (OperationalError, OSError):
            logger.warning("the broker does not answer: loading waits for the next sweep")
            break
    return len(entry_ids)


@shared_task(name="reviews.tasks.expire")
def expire() -> int:
    """Idempotent: each entry is approved by a conditional update; two beats give one log row per document."""
    from reviews.services import expiry

    return expiry.run().count

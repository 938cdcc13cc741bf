"""From a row to a message. The row is the queue; a lost or doubled message changes nothing."""

import logging
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from kombu.exceptions import OperationalError

from banks import pulse
from banks.models import Write

logger = logging.getLogger(__name__)


def message_life() -> timedelta:
    """A message that was not taken by then, lost or held by a dead worker, is sent again by the sweep."""
    return 2 * pulse.claim_time()


def dispatch_on_commit(write_id: int) -> None:
    """Sends the message after the surrounding transaction; a rollback sends nothing."""
    transaction.on_commit(lambda: dispatch(write_id))


def dispatch(write_id: int, *, delay: float = 0.0) -> bool:
    """Tells a worker about this row, in `delay` seconds (a few at most: long waits are `not_before` on the row).

    False when the broker is away: the sweep tells it later.
    """
    from banks.tasks import send_write

    now = timezone.now()
    Write.objects.filter(pk=write_id).update(dispatched_until=now + message_life())
    if send(send_write, write_id, delay=delay, what=f"write {write_id}"):
        return True
    Write.objects.filter(pk=write_id).update(dispatched_until=None)
    return False


def send(task: Any, pk: int, *, delay: float, what: str) -> bool:
    """The message itself. `delay` in seconds: a few at most. False when the broker is away."""
    try:
        task.apply_async((pk,), countdown=delay)
    except (OperationalError, OSError) as error:
        logger.warning("the broker does not answer (%s): %s waits for the sweep", type(error).__name__, what)
        return False
    return True

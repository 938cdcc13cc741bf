"""Signs of life of the workers: beat sends a short task to each queue, and whoever works on the queue says so.

One fresh sign proves the whole way: beat, broker, worker.
"""

import time

from django.core.cache import cache

QUEUES = ("door", "load")
# Two signs may be lost before anybody worries; a worker with all hands full is late, not dead.
LATE_AFTER = 45.0


def _key(queue: str) -> str:
    return f"heartbeat:{queue}"


def give(queue: str) -> None:
    cache.set(_key(queue), time.time(), timeout=24 * 3600)


def age(queue: str) -> float | None:
    """Seconds since the last sign of life of this queue's workers, None when there was none for a day."""
    at = cache.get(_key(queue))
    return None if at is None else max(time.time() - float(at), 0.0)

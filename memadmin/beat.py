"""The clock of the periodic tasks, for as many processes as one likes: one of them gives the beat, the others stand by.

Every sweep can be run twice without harm (docs/adr/0002); the lock is there so that they are not. It is held in Redis
for as long as a beat is alive, and given back when one ends in order; when one is killed, the next takes over after
`HELD_SECONDS`. Nothing is kept between starts: every period is short.
"""

import logging
from typing import Any

import redis
from celery.beat import Scheduler
from django.conf import settings
from redis.exceptions import LockError
from redis.lock import Lock

logger = logging.getLogger(__name__)

HELD_SECONDS = 6.0
LOOK_AGAIN = 1  # seconds until who stands by asks again, and at most until who holds it renews


class GuardedScheduler(Scheduler):
    """Celery's own, which does nothing while another process holds the beat."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2, socket_connect_timeout=2)
        name = f"{settings.KEY_PREFIX}:beat"
        self._lock = Lock(client, name, timeout=HELD_SECONDS, blocking=False, thread_local=False)
        self._active = False
        super().__init__(*args, **kwargs)
        self.max_interval = LOOK_AGAIN

    def setup_schedule(self) -> None:
        self.update_from_dict(self.app.conf.beat_schedule)

    def tick(self, *args: Any, **kwargs: Any) -> float:
        """Sends what is due. Returns the seconds until it wants to be called again."""
        if not self._hold():
            return LOOK_AGAIN
        return float(super().tick(*args, **kwargs))

    def close(self) -> None:
        super().close()
        self._give_back()

    def _hold(self) -> bool:
        """Whether the beat is ours. Without Redis it is nobody's, and nothing could be sent either."""
        try:
            held = self._renewed() or bool(self._lock.acquire())
        except redis.RedisError:
            held = False
        if held != self._active:
            logger.info("This process gives the beat." if held else "Another process gives the beat, or Redis is away.")
        self._active = held
        return held

    def _renewed(self) -> bool:
        if not self._active:
            return False
        try:
            return bool(self._lock.reacquire())
        except LockError:  # it ran out while this process slept, and may be somebody else's by now
            return False

    def _give_back(self) -> None:
        if not self._active:
            return
        self._active = False
        try:
            self._lock.release()
        except redis.RedisError:  # LockError is one too: it ran out
            logger.info("The beat was not given back: it ends by itself.")

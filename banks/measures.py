"""How memory servers answer: counted in Redis by whoever asks one, so that one look shows what all processes saw.

Counts only go up, and begin again when Redis is emptied. Nothing that must be right rests on them.
"""

import functools
import logging
from collections.abc import Iterator
from dataclasses import dataclass

import redis
from django.conf import settings

logger = logging.getLogger(__name__)

BOUNDS = (0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)  # seconds
OK = "ok"


@dataclass(frozen=True)
class Answers:
    """What one server has said so far. `buckets`: how many answers took at most so long, for each of `BOUNDS`."""

    server: int
    outcomes: dict[str, int]  # "ok", or the name of an error of banks.hindsight.errors
    buckets: tuple[int, ...]
    seconds: float

    @property
    def count(self) -> int:
        return sum(self.outcomes.values())


def note(server: int, seconds: float, outcome: str) -> None:
    """One answer, or one that did not come. Never fails: what is measured matters more than the measure."""
    if (client := _client(settings.REDIS_URL)) is None:
        return
    bucket = sum(seconds > bound for bound in BOUNDS)
    key = _key(server)
    try:
        with client.pipeline(transaction=False) as pipe:
            pipe.hincrby(key, f"outcome:{outcome}", 1)
            pipe.hincrby(key, f"bucket:{bucket}", 1)
            pipe.hincrbyfloat(key, "seconds", seconds)
            pipe.execute()
    except redis.RedisError as error:
        logger.debug("an answer was not counted (%s)", type(error).__name__)


def answers(servers: list[int]) -> Iterator[Answers]:
    """Of those that have answered. Raises redis.RedisError."""
    if (client := _client(settings.REDIS_URL)) is None:
        return
    with client.pipeline(transaction=False) as pipe:
        for server in servers:
            pipe.hgetall(_key(server))
        found = pipe.execute()
    for server, fields in zip(servers, found, strict=True):
        if fields:
            yield _read(server, {name.decode(): value.decode() for name, value in fields.items()})


def _read(server: int, fields: dict[str, str]) -> Answers:
    outcomes = {name.removeprefix("outcome:"): int(n) for name, n in fields.items() if name.startswith("outcome:")}
    each = [int(fields.get(f"bucket:{place}", 0)) for place in range(len(BOUNDS))]
    sums = tuple(sum(each[: place + 1]) for place in range(len(BOUNDS)))
    return Answers(server, outcomes, sums, float(fields.get("seconds", 0)))


def _key(server: int) -> str:
    return f"{settings.KEY_PREFIX}:answers:{server}"


@functools.cache
def _client(url: str) -> redis.Redis | None:
    # Short: a count is not worth the wait for a Redis that is away.
    return redis.Redis.from_url(url, socket_timeout=0.5, socket_connect_timeout=0.5) if url else None

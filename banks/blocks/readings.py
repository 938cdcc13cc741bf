"""What a bank says, for an agent that waits: asked within a limit, and for some seconds not asked again.

A bank that cannot be read is told from one that has nothing. Where it was read lately that is given, with its age and
with why there is nothing newer; else it is Unread.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Generic, TypeVar

from django.core.cache import cache
from django.utils import timezone

from banks.hindsight import HindsightClient
from banks.models import Bank
from banks.reading import CALL_SECONDS, Unread, reading

FRESH = timedelta(seconds=20)  # many sessions begin at once: one of them asks
MEANWHILE = timedelta(minutes=5)  # while one of them asks again, the others get what is no older
KEPT = 24 * 3600  # seconds
LARGEST_KEPT = 4_000_000  # characters: a cache is no store
GONE = ("bank", "missing", "unreachable")  # faces of Unread that say what is true now, so nothing older is

Told = TypeVar("Told")


@dataclass(frozen=True)
class Reading(Generic[Told]):
    """`unread`: why the bank could not be read just now, and this is what it said at `at`; "" = it was read."""

    told: Told
    at: datetime
    unread: str = ""

    @property
    def age(self) -> int:
        """Seconds."""
        return max(int((timezone.now() - self.at).total_seconds()), 0)


def read(bank: Bank, what: str, ask: Callable[[HindsightClient], Told], *, fresh: timedelta = FRESH) -> Reading[Told]:
    """What `ask` finds, which must be plain values; `what` is its name. Raises Unread where nothing is known."""
    key = _key(bank, what)
    kept: tuple[datetime, Told] | None = cache.get(key)
    if kept is not None and _serves(key, kept[0], fresh):
        return Reading(kept[1], kept[0])
    try:
        with reading(bank) as client:
            told = ask(client)
    except Unread as unread:
        if kept is None or unread.face in GONE:
            raise
        return Reading(kept[1], kept[0], unread.title)
    finally:
        cache.delete(_asking(key))
    now = timezone.now()
    if len(json.dumps(told)) <= LARGEST_KEPT:
        cache.set(key, (now, told), KEPT)
    return Reading(told, now)


def _serves(key: str, at: datetime, fresh: timedelta) -> bool:
    """Whether what was read at `at` will do: it is fresh, or somebody is asking anew; else the caller is who asks."""
    age = timezone.now() - at
    if age < fresh:
        return True
    return bool(fresh) and age < MEANWHILE and not cache.add(_asking(key), 1, CALL_SECONDS)


def _asking(key: str) -> str:
    return f"{key}:asking"


def forget(bank: Bank, what: str) -> None:
    cache.delete(_key(bank, what))


def _key(bank: Bank, what: str) -> str:
    """The address belongs to it: a server that moved is another one."""
    name = hashlib.sha256(f"{bank.server.base_url}\0{what}".encode("utf-8", "replace")).hexdigest()[:32]
    return f"block:1:{bank.pk}:{name}"

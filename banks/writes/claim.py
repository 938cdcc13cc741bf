"""Taking a row by conditional update: exactly one worker gets it, and a worker that lost it stores nothing."""

from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Exists, F, OuterRef, Q
from django.utils import timezone

from banks import log_index, pulse
from banks.models import Server, Write
from banks.writes import crossing

State = Write.State

# How long a worker may hang on one row: an edit reads, sends and reads back. On top of the server's timeouts.
HOLD_MARGIN = timedelta(seconds=10)
CALLS_PER_HOLD = 3


@dataclass(frozen=True)
class Claim:
    """`fresh`: to be sent. Otherwise it was sent before, perhaps by a worker that died: read back first."""

    write: Write
    fresh: bool


def take(write: Write) -> Claim | str:
    """The claimed row, read anew, or a word why there is nothing to do ("not due", "slot busy", "document busy" …)."""
    now = timezone.now()
    until = now + pulse.claim_time()
    if write.state in (State.QUEUED, State.RETRYING):
        if server_is_full(write.bank.server, now):
            return "server busy"
        if crossing.in_the_way(write):
            return "document busy"
        return _take_fresh(write, now, until)
    return _take_back(write, now, until)


def _take_fresh(write: Write, now: datetime, until: datetime) -> Claim | str:
    earlier = Write.objects.filter(slot=OuterRef("slot"), pk__lt=OuterRef("pk"), state__in=Write.OPEN)
    due = Write.objects.filter(~Exists(earlier), pk=write.pk, state=write.state, claim=write.claim, not_before__lte=now)
    try:
        with transaction.atomic():
            taken = due.update(
                state=State.SENDING,
                claim=F("claim") + 1,
                attempts=F("attempts") + 1,
                claimed_until=until,
                dispatched_until=None,
            )
    except IntegrityError:  # the partial unique index: another write of the slot is in flight
        return "slot busy"
    if not taken:
        return "not due"
    mine = _claimed(write)
    if crossing.in_the_way(mine):
        store(mine, state=write.state, attempts=mine.attempts - 1)
        return "document busy"
    return Claim(mine, fresh=True)


def _take_back(write: Write, now: datetime, until: datetime) -> Claim | str:
    """Takes a row whose outcome must be read back: unknown, accepted, or left in "sending" by a dead worker."""
    due = Q(state__in=[State.UNKNOWN, State.ACCEPTED], not_before__lte=now) | Q(state=State.SENDING)
    taken = (
        Write.objects.filter(due, pk=write.pk, state=write.state, claim=write.claim)
        .filter(Q(claimed_until=None) | Q(claimed_until__lt=now))
        .update(claim=F("claim") + 1, claimed_until=until, dispatched_until=None)
    )
    return Claim(_claimed(write), fresh=False) if taken else "not due"


def _claimed(write: Write) -> Write:
    """The row that was just taken, as it is now. It keeps our number, even where another worker has one by now."""
    mine = Write.objects.select_related("bank__server").get(pk=write.pk)
    mine.claim = write.claim + 1
    return mine


def held(write: Write) -> AbstractContextManager[None]:
    """Keeps a claimed row ours during the body, while this process lives and does not hang."""
    server = write.bank.server
    longest = CALLS_PER_HOLD * timedelta(seconds=server.connect_timeout + server.read_timeout) + HOLD_MARGIN
    # What was stored meanwhile is no longer claimed, and stays so.
    mine = Write.objects.filter(pk=write.pk, claim=write.claim, claimed_until__isnull=False)
    return pulse.held(
        lambda: bool(mine.update(claimed_until=timezone.now() + pulse.claim_time())),
        at_most=longest,
    )


def store(write: Write, **changes: Any) -> bool:
    """Stores what a worker found out, if it still holds the row. `changes` are plain values of fields of Write.

    The instance has them from then on: nobody else changes a row that is claimed, so it is not read again.
    """
    changes.setdefault("claimed_until", None)
    with transaction.atomic():
        stored = Write.objects.filter(pk=write.pk, claim=write.claim, state__in=Write.OPEN).update(**changes)
        if stored and changes.get("error_text", write.error_text) != write.error_text:
            log_index.again(write.pk)
    if stored:
        for name, value in changes.items():
            setattr(write, name, value)
    return bool(stored)


def server_is_full(server: Server, now: datetime) -> bool:
    """Whether this server has as many of our calls in flight as it can take without deadlocks."""
    in_flight = Write.objects.filter(bank__server=server, state=State.SENDING, claimed_until__gt=now)
    return in_flight.count() >= settings.CURATION_CALLS_PER_SERVER

"""The worker's side of the door: claim, read afresh, send, confirm. Safe to be killed between any two lines."""

import logging
import random
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from banks import connections, log_index, pulse
from banks.hindsight import Busy, HindsightClient, HindsightError, Refused
from banks.models import Server, Write
from banks.writes import claim, registry
from banks.writes.dispatch import dispatch, message_life
from banks.writes.kind import (
    Accepted,
    ChangedSinceDecided,
    Done,
    Misplaced,
    NotDone,
    Replaced,
    StillWorking,
    Stuck,
    own_slot,
)

logger = logging.getLogger(__name__)
State = Write.State

MAX_ATTEMPTS = 8
FIRST_PAUSE = 2.0  # seconds; doubles per attempt, with jitter
LONGEST_PAUSE = 300.0
# How soon an accepted write is looked at again: quick at first, then patient. A batch may take 24 hours.
POLL_FIRST, POLL_LONGEST = 0.5, 60.0
SOON = 5.0  # seconds; what is due that soon need not wait for the sweep
PAUSED_SERVER = timedelta(seconds=15)


def run(write_id: int) -> str:
    """Takes one row a step further and returns a short word. Running it twice does what running it once does."""
    write = Write.objects.select_related("bank__server").filter(pk=write_id).first()
    if write is None or write.state not in Write.OPEN:
        return "ended"
    if wait := _closed_until(write.bank.server):
        Write.objects.filter(pk=write_id, state=write.state, claim=write.claim).exclude(state=State.SENDING).update(
            not_before=wait, dispatched_until=None
        )
        return "server closed"
    claimed = claim.take(write)
    if isinstance(claimed, str):
        Write.objects.filter(pk=write_id).update(dispatched_until=None)  # the sweep may tell us again
        return claimed
    with claim.held(claimed.write):
        word = _step(claimed)
    _wake_the_next(claimed.write)
    return word


def _closed_until(server: Server) -> datetime | None:
    if server.writes_paused:
        return timezone.now() + PAUSED_SERVER
    return connections.paused_until(server)


def _step(claimed: claim.Claim) -> str:
    write = claimed.write
    try:
        with connections.talking_to(write.bank.server) as client:
            return _send(client, write) if claimed.fresh else _read_back(client, write)
    except ChangedSinceDecided as changed:
        return _end(write, State.CHANGED, error_text=changed.text, outcome={**write.outcome, **changed.outcome})
    except Misplaced as found:
        return _move(write, found)
    except HindsightError as error:
        return _trouble(write, error, sent=write.sent is not None)
    except Exception as error:
        # A bug of ours must not leave the row in flight for ever, nor be retried for ever.
        logger.exception("write %s failed inside memadmin", write.pk)
        return _end(
            write,
            State.ATTENTION,
            error_class=type(error).__name__[:60],
            error_text="memadmin failed while it worked on this; nothing was lost. The details are in its log.",
        )


def _send(client: HindsightClient, write: Write) -> str:
    kind = registry.get(write.kind)
    early = kind.precheck(client, write)
    if isinstance(early, Stuck):
        return _stuck(write, early)
    if isinstance(early, StillWorking):
        return _later(write, early)
    if early is not None:
        return _end(write, State.DONE, outcome={**write.outcome, **early.outcome})
    # From here on the outcome may be unknown: stored before the first byte leaves.
    # `outcome`: what the precheck noted down about how things were before.
    until = timezone.now() + pulse.claim_time()
    if not claim.store(write, sent=timezone.now(), claimed_until=until, outcome=write.outcome):
        return "lost the claim"
    try:
        answer = kind.send(client, write)
    except HindsightError as error:
        return _trouble(write, error, sent=error.outcome_unknown)
    if isinstance(answer, Stuck):
        return _stuck(write, answer)
    if isinstance(answer, Replaced):
        return _end(write, State.CANCELLED, sent=None, outcome={**write.outcome, **answer.outcome})
    if isinstance(answer, Accepted):
        return _keep(write, State.ACCEPTED, answer.outcome, _poll_pause(write))
    return _end(write, State.DONE, outcome={**write.outcome, **answer.outcome})


def _move(write: Write, found: Misplaced) -> str:
    """Nothing was sent: the row queues again where it belongs, behind what waits there already."""
    with transaction.atomic():
        if not claim.store(write, state=State.QUEUED, not_before=timezone.now(), **found.changes):
            return "lost the claim"
        log_index.again(write.pk)
    dispatch(write.pk)
    return "moved"


def _later(write: Write, why: StillWorking) -> str:
    """Nothing is sent yet, and that is no failed attempt."""
    later = timezone.now() + timedelta(seconds=_poll_pause(write))
    told = {"attempts": max(write.attempts - 1, 0), "outcome": {**write.outcome, **why.outcome}}
    return "waits" if claim.store(write, state=State.RETRYING, not_before=later, **told) else "lost the claim"


def _read_back(client: HindsightClient, write: Write) -> str:
    if write.sent is None:  # a worker died before anything left
        return _retry(write, pause=0.0)
    found = registry.get(write.kind).verify(client, write)
    if isinstance(found, Done):
        return _end(write, State.DONE, outcome={**write.outcome, **found.outcome})
    if isinstance(found, StillWorking):
        return _keep(write, State.ACCEPTED, found.outcome, _poll_pause(write))
    if isinstance(found, NotDone):
        return _retry(write)
    return _stuck(write, found)


def _trouble(write: Write, error: HindsightError, *, sent: bool) -> str:
    """Files an error by what it means: refused for good, unknown, or worth another try."""
    told: dict[str, Any] = {
        "error_class": type(error).__name__,
        "error_status": error.status,
        "error_text": str(error),
        "error_took": error.took,
    }
    if error.permanent and not isinstance(error, Refused):  # a key can be put right: the row waits for that
        return _end(write, State.ATTENTION, **told)
    if sent:
        if write.attempts >= MAX_ATTEMPTS and not error.outcome_unknown:
            # Reading back has failed for a long time; it stays unknown, but not unseen.
            told["outcome"] = {**write.outcome, "unreadable": True}
        return _keep(write, State.UNKNOWN, {}, _pause(write.claim), **told)
    pause = error.retry_after if isinstance(error, Busy) and error.retry_after is not None else None
    return _retry(write, pause=pause, **told)


def _retry(write: Write, *, pause: float | None = None, **told: Any) -> str:
    if write.attempts >= MAX_ATTEMPTS:
        return _end(write, State.ATTENTION, **told)
    seconds = _pause(write.attempts) if pause is None else min(pause, LONGEST_PAUSE)
    stored = claim.store(
        write, state=State.RETRYING, sent=None, not_before=timezone.now() + timedelta(seconds=seconds), **told
    )
    return "retrying" if stored else "lost the claim"


def _keep(write: Write, state: State, outcome: dict[str, Any], seconds: float, **told: Any) -> str:
    told.setdefault("outcome", {**write.outcome, **outcome})
    if state == State.ACCEPTED and registry.get(write.kind).frees_slot:
        told["slot"] = own_slot(write)
    not_before = timezone.now() + timedelta(seconds=seconds)
    if not claim.store(write, state=state, not_before=not_before, **told):
        return "lost the claim"
    if seconds <= SOON:
        dispatch(write.pk, delay=seconds)
    return str(state.value)


def _stuck(write: Write, stuck: Stuck) -> str:
    return _end(write, State.ATTENTION, error_text=stuck.text, outcome={**write.outcome, **stuck.outcome})


def _end(write: Write, state: State, **changes: Any) -> str:
    """Stores an end, and lets the apps draw their conclusions in the same transaction."""
    if state in (State.DONE, State.CANCELLED):
        changes["finished"] = timezone.now()
    with transaction.atomic():
        if not claim.store(write, state=state, **changes):
            return "lost the claim"
        registry.tell(write)
    return str(state.value)


def _pause(attempts: int) -> float:
    return min(FIRST_PAUSE * 2.0 ** max(attempts - 1, 0), LONGEST_PAUSE) * random.uniform(0.7, 1.3)  # noqa: S311


def _poll_pause(write: Write) -> float:
    waited = (timezone.now() - (write.sent or write.created)).total_seconds()
    return min(max(waited / 4, POLL_FIRST), POLL_LONGEST)


def _wake_the_next(write: Write) -> None:
    """What waited for this slot, or for this server to have room, need not wait for the sweep."""
    if write.state == State.SENDING:
        return
    registry.get(write.kind).freed(write)
    waiting = Write.objects.filter(
        state__in=[State.QUEUED, State.RETRYING], not_before__lte=timezone.now(), dispatched_until=None
    ).order_by("pk")
    same_slot = waiting.filter(slot=write.slot)
    same_server = waiting.filter(bank__server=write.bank.server_id)
    if next_id := (same_slot.values_list("pk", flat=True).first() or same_server.values_list("pk", flat=True).first()):
        dispatch(next_id)


def sweep(*, limit: int = 500) -> int:
    """Tells a worker about every row that is due and not spoken for. Returns how many.

    Two sweeps at once are harmless: a row is marked as spoken for by conditional update, and `run` is idempotent.
    """
    now = timezone.now()
    due = Q(state__in=[State.QUEUED, State.RETRYING, State.UNKNOWN, State.ACCEPTED], not_before__lte=now)
    dead = Q(state=State.SENDING, claimed_until__lt=now)
    unspoken = Q(dispatched_until=None) | Q(dispatched_until__lt=now)
    told = 0
    for write_id in Write.objects.filter(due | dead, unspoken).order_by("pk").values_list("pk", flat=True)[:limit]:
        mine = Write.objects.filter(unspoken, pk=write_id).update(dispatched_until=now + message_life())
        if mine and not dispatch(write_id):
            break  # the broker is away; the rest waits
        told += mine
    return told

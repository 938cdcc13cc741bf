"""Notifications to an address of a team: signed, tried again by rows, each message in the log of its address."""

import json
import logging
import secrets
import time
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q
from django.urls import reverse
from django.utils import timezone

from banks import crypto
from banks.models import AdminEvent, Bank, Server
from banks.recall.selectors import lost_on
from banks.services import events
from banks.services.refusal import Refusal
from banks.webhooks import signing
from memadmin import outgoing
from memadmin.accounts.models import User
from reviews.models import Notice, OutgoingDelivery, OutgoingHook
from reviews.selectors.notices import name_of, plain_name
from reviews.selectors.overview import rows_of
from reviews.services.notices import LATE

logger = logging.getLogger(__name__)
State = OutgoingDelivery.State

MOST_ATTEMPTS = 8
FIRST_PAUSE, LONGEST_PAUSE = timedelta(minutes=1), timedelta(hours=1)
CLAIM = timedelta(minutes=2)  # longer than one try takes
KEPT = timedelta(days=90)
BANKS_NAMED = 50
MOST_HOOKS = 20  # of one server
AT_ONCE = 50
SLICE = 60.0  # seconds of one turn
UNREADABLE = "Its secret was stored under an encryption key that is gone. Remove the address and add it again."


def add(
    *,
    actor: User,
    server: Server,
    name: str,
    url: str,
    digest: bool,
    soon: bool,
    hour: int,
    time_zone: str,
    recall: bool = False,
) -> str:
    """The secret, which is shown this once. Raises Refusal."""
    try:
        target = outgoing.target_of(url)
        outgoing.check_literal(target)  # what a name means is asked when it is called
    except outgoing.Blocked as error:
        raise Refusal(str(error), field="url") from error
    if OutgoingHook.objects.filter(server=server, removed_at=None).count() >= MOST_HOOKS:
        raise Refusal(f"A server has at most {MOST_HOOKS} of them.")
    secret = secrets.token_urlsafe(32)
    wanted: dict[str, Any] = {"digest": digest, "soon": soon, "recall": recall, "hour": hour, "time_zone": time_zone}
    hook = OutgoingHook(server=server, name=name, host=target.host[:255], **wanted)
    hook.url, hook.secret = url, secret
    with transaction.atomic():
        hook.save()
        after = {"name": name, "address": hook.host}
        events.record(what=AdminEvent.What.OUTGOING_ADDED, actor=actor, server=server, after=after)
    return secret


@transaction.atomic
def remove(*, actor: User, hook: OutgoingHook) -> bool:
    """False when it was removed already."""
    if not OutgoingHook.objects.filter(pk=hook.pk, removed_at=None).update(removed_at=timezone.now()):
        return False
    before = {"name": hook.name}
    events.record(what=AdminEvent.What.OUTGOING_REMOVED, actor=actor, server=hook.server, before=before)
    return True


def plan() -> int:
    """A row for each message that is due. Running it twice, or at once, makes none a second time."""
    live = OutgoingHook.objects.filter(removed_at=None).exclude(digest=False, soon=False, recall=False)
    rows = [
        OutgoingDelivery(hook=hook, kind=kind, day=hook.today())
        for hook in live.iterator(chunk_size=500)
        for kind in hook.kinds_due(late=LATE)
    ]
    OutgoingDelivery.objects.bulk_create(rows, ignore_conflicts=True, batch_size=200)
    OutgoingDelivery.objects.filter(created__lt=timezone.now() - KEPT).delete()
    return len(rows)


def send_due(*, limit: int = AT_ONCE) -> int:
    """Tries what is due; returns how many were taken by their addresses. Safe to run twice at once."""
    now = timezone.now()
    free = Q(claimed_until=None) | Q(claimed_until__lt=now)
    due = OutgoingDelivery.objects.filter(free, state=State.WAITING, not_before__lte=now).order_by("not_before", "pk")
    over, sent = time.monotonic() + SLICE, 0
    for key in list(due.values_list("pk", flat=True)[:limit]):
        sent += send(key) == "sent"
        if time.monotonic() > over:
            break
    return sent


def send(delivery_id: int) -> str:
    """One try. The row is taken by conditional update, and no transaction is open while we wait for the answer."""
    now = timezone.now()
    free = Q(claimed_until=None) | Q(claimed_until__lt=now)
    taken = OutgoingDelivery.objects.filter(free, pk=delivery_id, state=State.WAITING, not_before__lte=now)
    if not taken.update(claimed_until=now + CLAIM, attempts=F("attempts") + 1):
        return "not due"
    row = OutgoingDelivery.objects.select_related("hook__server").get(pk=delivery_id)
    if row.hook.removed_at is not None:
        return _end(row, State.EMPTY)
    if not row.body and not (_write_lost(row) if row.kind == Notice.Kind.RECALL else _write_body(row)):
        return _end(row, State.EMPTY)
    try:
        status, took = outgoing.post(row.hook.url, headers=_headers(row), body=row.body.encode())
    except crypto.CannotDecrypt:
        return _end(row, State.FAILED, error=UNREADABLE)
    except outgoing.Blocked as error:
        return _end(row, State.FAILED, error=str(error)[:200])
    except outgoing.NotSent as error:
        return _again(row, error=str(error)[:200])
    if 200 <= status < 300:
        return _end(row, State.SENT, status=status, took=took, error="", sent=timezone.now())
    if status == 410:  # the receiver wants no more of it
        return _end(row, State.FAILED, status=status, took=took, error="The address says that it is gone.")
    return _again(row, status=status, took=took, error="The answer was not 2xx; redirects are not followed.")


def _headers(row: OutgoingDelivery) -> dict[str, str]:
    """Signed anew for each try, so that a receiver can refuse what is old."""
    raw, at = row.body.encode(), int(timezone.now().timestamp())
    return {
        "Content-Type": "application/json",
        "User-Agent": "memadmin",
        "X-Memadmin-Event": row.kind,
        "X-Memadmin-Event-Id": str(row.event_id),
        "X-Memadmin-Signature": f"t={at},v1={signing.v2_of(row.hook.secret, raw, at)}",
    }


def _write_body(row: OutgoingDelivery) -> bool:
    """What is said, kept for all tries: numbers and names of banks. Persons' banks are in nobody's message."""
    server = row.hook.server
    shared = Bank.objects.filter(server=server, kind=Bank.Kind.PROJECT, gone_since=None)
    found = [bank for bank in rows_of(shared) if bank.pending or bank.held]
    soon = sum(bank.soon.number for bank in found)
    if not (soon if row.kind == Notice.Kind.SOON else found):
        return False
    said: dict[str, Any] = {
        "event": row.kind,
        "event_id": str(row.event_id),
        "day": row.day.isoformat(),
        "server": server.name,
        "pending": sum(bank.pending.number for bank in found),
        "soon": soon,
        "held": sum(bank.held.number for bank in found),
        "at_least": any(bank.pending.capped or bank.held.capped for bank in found),
        "banks": [
            {
                "name": name_of(bank),
                "pending": bank.pending.number,
                "soon": bank.soon.number,
                "held": bank.held.number,
            }
            for bank in found[:BANKS_NAMED]
        ],
        "banks_left_out": max(len(found) - BANKS_NAMED, 0),
        "url": f"{settings.PUBLIC_URL}{reverse('reviews:entry-list')}" if settings.PUBLIC_URL else "",
    }
    return _keep_body(row, said)


def _write_lost(row: OutgoingDelivery) -> bool:
    """The same for facts that stopped coming back: said once, until others do."""
    lost = lost_on(row.hook.server_id)
    told = OutgoingDelivery.objects.filter(hook=row.hook_id, kind=row.kind, state=State.SENT).order_by("-pk").first()
    if lost.newest is None or (told is not None and lost.newest <= told.created):
        return False
    said: dict[str, Any] = {
        "event": row.kind,
        "event_id": str(row.event_id),
        "day": row.day.isoformat(),
        "server": row.hook.server.name,
        "lost": lost.facts,
        "banks": [{"name": plain_name(str(bank)), "lost": count} for bank, count in lost.banks[:BANKS_NAMED]],
        "banks_left_out": max(len(lost.banks) - BANKS_NAMED, 0),
        "url": f"{settings.PUBLIC_URL}{reverse('reviews:recall-check-list')}" if settings.PUBLIC_URL else "",
    }
    return _keep_body(row, said)


def _keep_body(row: OutgoingDelivery, said: dict[str, Any]) -> bool:
    row.body = json.dumps(said)
    OutgoingDelivery.objects.filter(pk=row.pk).update(body=row.body)
    return True


def _again(row: OutgoingDelivery, **told: Any) -> str:
    if row.attempts >= MOST_ATTEMPTS:
        return _end(row, State.FAILED, **told)
    pause = min(FIRST_PAUSE * 2 ** (row.attempts - 1), LONGEST_PAUSE)
    return _end(row, State.WAITING, not_before=timezone.now() + pause, **told)


def _end(row: OutgoingDelivery, state: State, **told: Any) -> str:
    """Stores how a try ended, if the row is still ours."""
    mine = OutgoingDelivery.objects.filter(pk=row.pk, claimed_until=row.claimed_until)
    mine.update(state=state, claimed_until=None, **told)
    return str(state.value)

"""When which bank's operations are read, and by whom. Reads only.

Quick while something moves, patient when nothing does: the pause grows with the time in which nothing changed.
"""

import random
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from banks import connections, pulse
from banks.hindsight import HindsightClient, HindsightError, NotFound
from banks.models import Bank, OperationLook, OperationSeen, Server, Write
from banks.operations.read import Found, Known, read
from banks.operations.store import KEPT_FOR, store

Phase = OperationSeen.Phase

HANGS_AFTER = timedelta(minutes=5)
READ_TIMEOUT = 15.0  # seconds of one call
QUICKEST = timedelta(seconds=10)
JUST_NOW = timedelta(seconds=2)
# How often it is asked by status as well, where the newest page is not all there is and nothing is open.
READ_ALL_EVERY = timedelta(minutes=10)
CLOCKS_AGREE = timedelta(minutes=1)
MOST_AHEAD = 365 * 86_400.0  # seconds
NO_ADDRESS = "No server can address this bank: its id has a slash."


def due(*, limit: int = 100) -> list[int]:
    """The banks whose operations want to be read and that nobody reads, longest waiting first."""
    now = timezone.now()
    # A write of ours that a server works on is an operation there, whatever is known of it.
    ours = Write.objects.filter(state=Write.State.ACCEPTED).values_list("bank_id", flat=True).distinct()
    ask(ours[:limit], not_since=now - QUICKEST)
    free = Q(operation_look__claimed_until=None) | Q(operation_look__claimed_until__lt=now)
    wanted = Q(operation_look=None) | Q(operation_look__look_after__lte=now)
    banks = Bank.objects.filter(free, wanted, gone_since=None)
    answering = banks.exclude(server__health=Server.Health.REFUSED).exclude(server__closed_until__gt=now)
    ordered = answering.order_by(F("operation_look__look_after").asc(nulls_first=True), "pk")
    return list(ordered.values_list("pk", flat=True)[:limit])


def ask(banks: Iterable[int], *, not_since: datetime | None = None) -> int:
    """Has the operations of these banks read at the next sweep; those that were read since then are left alone.

    Returns of how many banks. One that was never read is due anyhow.
    """
    now = timezone.now()
    stale = Q(looked_at=None) | Q(looked_at__lt=not_since or now - JUST_NOW)
    asked = OperationLook.objects.filter(stale, bank__in=list(banks), look_after__gt=now)
    pks = list(asked.values_list("pk", flat=True))
    return OperationLook.objects.filter(pk__in=pks).update(look_after=now) if pks else 0


def look(bank_id: int) -> str:
    """Reads the operations of one bank once. Idempotent: claimed by conditional update; returns a short word."""
    claimed = _claim(bank_id)
    if claimed is None:
        return "not due"
    with pulse.held(lambda: _renew(claimed), at_most=HANGS_AFTER):
        return _look(claimed)


def _claim(bank_id: int) -> OperationLook | None:
    now = timezone.now()
    until = now + pulse.claim_time()
    if not OperationLook.objects.filter(bank=bank_id).exists():
        OperationLook.objects.bulk_create([OperationLook(bank_id=bank_id, look_after=now)], ignore_conflicts=True)
    free = Q(claimed_until=None) | Q(claimed_until__lt=now)
    if not OperationLook.objects.filter(free, bank=bank_id, look_after__lte=now).update(claimed_until=until):
        return None
    found = OperationLook.objects.select_related("bank__server").get(bank=bank_id)
    found.claimed_until = until  # never the token of a worker that was quicker
    return found


def _renew(look: OperationLook) -> bool:
    until = timezone.now() + pulse.claim_time()
    renewed = bool(_held(look).update(claimed_until=until))
    if renewed:
        look.claimed_until = until
    return renewed


def _held(look: OperationLook) -> QuerySet[OperationLook]:
    return OperationLook.objects.filter(bank=look.bank_id, claimed_until=look.claimed_until)


def _look(look: OperationLook) -> str:
    bank, started = look.bank, timezone.now()
    if not bank.addressable:
        return _end(look, error=NO_ADDRESS)
    read_all = _wants_all(look, started)
    try:
        with connections.talking_to(bank.server, read_timeout=READ_TIMEOUT) as client:
            found = read(client, bank.bank_id, _known(bank), read_all=read_all, since=started - KEPT_FOR)
            ahead = _ahead(client)
    except NotFound as error:
        if error.what == "bank":
            Bank.objects.filter(pk=bank.pk, gone_since=None).update(gone_since=started)
        return _end(look, error=str(error))
    except HindsightError as error:
        return _end(look, error=str(error))
    return _store(look, found, ahead)


def _known(bank: Bank) -> list[Known]:
    """The longest unread first."""
    parents = set(bank.operations.filter(parent__isnull=False).order_by().values_list("parent", flat=True))
    rows = bank.operations.order_by(F("read_at").asc(nulls_first=True), "pk")
    return [
        Known(operation_id, parent is not None or pk in parents, phase == Phase.OPEN, phase == Phase.FAILED)
        for pk, operation_id, phase, parent in rows.values_list("pk", "operation_id", "phase", "parent")
    ]


def _store(look: OperationLook, found: Found, ahead: timedelta) -> str:
    """The rows and the end of the look: both are stored, or neither."""
    now = timezone.now()
    with transaction.atomic():
        if not _held(look).update(looked_at=now):
            return "lost the claim"
        stored = store(look.bank, found, now=now, ahead=ahead)
        look.looked_at = now
        changes: dict[str, Any] = {}
        if stored.new or stored.changed:
            look.moved_at = changes["moved_at"] = now
        if found.read_all:
            changes |= {"read_all_at": now, "open_total": found.open_total, "failed_total": found.failed_total}
        _end(look, **changes)
    return f"{stored.new} new, {stored.changed} changed"


def _end(look: OperationLook, *, error: str = "", **changes: Any) -> str:
    pause = _pause(look, failed=bool(error))
    again = timezone.now() + pause * random.uniform(0.9, 1.1)  # noqa: S311
    _held(look).update(claimed_until=None, look_after=again, error=error[:300], **changes)
    return "failed" if error else "looked"


def _pause(look: OperationLook, *, failed: bool) -> timedelta:
    longest = timedelta(seconds=settings.OPERATIONS_SECONDS)
    if failed:
        return longest
    quiet = timezone.now() - look.moved_at
    if look.bank.operations.filter(phase=Phase.OPEN).exists() and quiet < timedelta(hours=1):
        return min(max(quiet / 4, QUICKEST), longest)
    return min(max(quiet / 12, longest), 5 * longest)


def _wants_all(look: OperationLook, now: datetime) -> bool:
    if look.read_all_at is None or look.read_all_at < now - READ_ALL_EVERY:
        return True
    return bool(look.open_total) or look.bank.operations.filter(phase=Phase.OPEN).exists()


def _ahead(client: HindsightClient) -> timedelta:
    """By how much the server's clock is ahead of ours, as far as that is certain."""
    ahead = timedelta(seconds=min(max(client.clock_ahead or 0.0, -MOST_AHEAD), MOST_AHEAD))
    return ahead if abs(ahead) > CLOCKS_AGREE else timedelta(0)

"""Looking at the documents that webhooks named: one row of the bank's list each, once it has been quiet.

A delivery says that something was stored, and nothing else of it counts. The regular look at the bank goes on beside
this and finds the same documents; whoever comes second finds the entry of the first, with the same text.
"""

import logging
import time
from datetime import datetime, timedelta

from django.db.models import Q
from django.utils import timezone

from banks import connections
from banks.hindsight import DocumentRow, HindsightError, Refused
from banks.models import Bank, Server, WebhookDelivery
from reviews.models import ReviewEntry
from reviews.services.enqueue import WEBHOOK, enqueue
from reviews.services.poll import OVERLAP
from reviews.services.quiet import is_quiet, server_time

logger = logging.getLogger(__name__)
State = WebhookDelivery.State

SLICE = 15.0  # seconds, after which others get the worker
BATCH = 50
WITHIN = 30.0  # seconds that one read may take
# Longer than all reads of one look. What a killed worker held is looked at after that, or met by the regular look.
CLAIM = timedelta(minutes=5)
MOST_ATTEMPTS = 8
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=10), timedelta(minutes=10)
# A document that is written on and on is looked at no more often than that.
SHORTEST_WAIT = timedelta(seconds=30)

GONE = "the bank does not have this document (any more)"
NO_BANK = "the bank is gone from its server"
NOT_REVIEWED = "new documents of this bank are not reviewed (policy)"
OLDER = "it was there before this bank's documents were reviewed"
KNOWN = "nothing new: its text is known"
GAVE_UP = "it could not be looked at; the regular look at the bank finds it: {error}"


def due(*, limit: int = BATCH) -> list[int]:
    """Deliveries whose document wants to be looked at and that nobody looks at, longest waiting first."""
    now = timezone.now()
    free = Q(claimed_until=None) | Q(claimed_until__lt=now)
    wanted = WebhookDelivery.objects.filter(free, look_after__lte=now, state=State.WAITING)
    answering = wanted.exclude(hook__bank__server__health=Server.Health.REFUSED)
    answering = answering.exclude(hook__bank__server__closed_until__gt=now)
    return list(answering.order_by("look_after", "pk").values_list("pk", flat=True)[:limit])


def run(*, seconds: float = SLICE) -> int:
    """Looks until nothing is due or the time is over. Safe to run several times at once; returns how many it tried."""
    over = time.monotonic() + seconds
    tried = 0
    while keys := due():
        for key in keys:
            if time.monotonic() > over:
                return tried
            try:
                look(key)
            except Exception:  # a fault of ours with one must not hold up the others; its claim keeps it away
                logger.exception("the delivery %s could not be followed", key)
            tried += 1
    return tried


def look(delivery_id: int) -> str:
    """Looks at one document once. Idempotent: claimed by conditional update; returns a short word."""
    row = _claim(delivery_id)
    if row is None:
        return "not due"
    bank = row.hook.bank
    if bank.gone_since is not None:
        return _end(row, State.DONE, NO_BANK)
    if not bank.polled:
        return _end(row, State.DONE, NOT_REVIEWED)
    started = timezone.now()
    try:
        with connections.talking_to(bank.server, within=WITHIN) as client:
            found = client.find_document(bank.bank_id, row.document_id)
            now = server_time(client, started)
    except HindsightError as error:
        return _failed(row, error)
    if found is None:
        return _end(row, State.DONE, GONE)
    if not is_quiet(found, bank, now):
        return _wait(row, bank, found, now)
    if _older(bank, row, found):
        return _end(row, State.DONE, OLDER)
    came = enqueue(bank=bank, rows=[found], source=WEBHOOK)
    outcome = "it is to be reviewed" if came.new else "it changed, and is looked at again" if came.changed else KNOWN
    return _end(row, State.DONE, outcome)


def _claim(delivery_id: int) -> WebhookDelivery | None:
    now = timezone.now()
    free = Q(claimed_until=None) | Q(claimed_until__lt=now)
    rows = WebhookDelivery.objects.filter(free, pk=delivery_id, state=State.WAITING, look_after__lte=now)
    if not rows.update(claimed_until=now + CLAIM):
        return None
    row = WebhookDelivery.objects.select_related("hook__bank__server").get(pk=delivery_id)
    row.claimed_until = now + CLAIM  # never the claim of a worker that was quicker
    return row


def _older(bank: Bank, row: WebhookDelivery, found: DocumentRow) -> bool:
    """A late delivery about what the bank held before its first look, which is nobody's work to review."""
    if bank.watermark is None or found.updated_at is None or found.updated_at > bank.watermark - OVERLAP:
        return False
    return not ReviewEntry.objects.filter(bank=bank, document_hash=row.document_hash).exists()


def _wait(row: WebhookDelivery, bank: Bank, found: DocumentRow, now: datetime) -> str:
    """It is still being written: looked at again when it may have been quiet for long enough."""
    assert found.updated_at is not None  # else it would count as quiet
    left = max(found.updated_at + bank.settle_time - now, SHORTEST_WAIT)
    _keep(row, look_after=timezone.now() + left)
    return "not quiet"


def _failed(row: WebhookDelivery, error: HindsightError) -> str:
    # A refused key can be put right; what else is permanent stays so.
    if (error.permanent and not isinstance(error, Refused)) or row.attempts + 1 >= MOST_ATTEMPTS:
        return _end(row, State.FAILED, GAVE_UP.format(error=error.detail))
    pause = min(FIRST_PAUSE * 2**row.attempts, LONGEST_PAUSE)
    _keep(row, attempts=row.attempts + 1, look_after=timezone.now() + pause, outcome=error.detail[:300])
    return "failed"


def _end(row: WebhookDelivery, state: str, outcome: str) -> str:
    _keep(row, state=state, look_after=None, outcome=outcome[:300])
    return outcome


def _keep(row: WebhookDelivery, **changes: object) -> None:
    """Stores how the look ended, if the delivery is still ours."""
    mine = WebhookDelivery.objects.filter(pk=row.pk, claimed_until=row.claimed_until)
    mine.update(claimed_until=None, **changes)

"""The steps of a memory that is held for review, on its row of the queue. Who decides, and the log, are elsewhere.

Each is one conditional update, belongs into the transaction of its decision, and returns False where somebody was
faster. What is held is neither sent nor given up by anything but a decision, whatever the bank's policy says by now.
"""

from functools import partial

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from banks.models import Blob, RetainItem
from banks.retain import flush

State = RetainItem.State


def release(item: RetainItem) -> bool:
    """Into the queue. One that came with an operation id of its sender is a request of its own by now."""
    changes = {"alone": item.operation_id is not None, "not_before": flush.due_from(timezone.now())}
    if not _move(item, State.HELD, State.QUEUED, **changes):
        return False
    transaction.on_commit(partial(flush.expect, item.bank_id, item.pk))
    return True


def take_back(item: RetainItem) -> bool:
    """Out of the queue again, as long as nothing of it was sent."""
    return _move(item, State.QUEUED, State.HELD)


def drop(item: RetainItem, why: str) -> bool:
    """It is never sent. Its text stays."""
    return _move(item, State.HELD, State.DISCARDED, error=why[:500])


def pick_up(item: RetainItem) -> bool:
    """What was dropped is held again."""
    return _move(item, State.DISCARDED, State.HELD, error="")


def reword(item: RetainItem, content: Blob) -> bool:
    """Another text in the place of the one that came."""
    return _move(item, State.HELD, State.HELD, content=content, size=content.size)


def earlier(item: RetainItem) -> QuerySet[RetainItem]:
    """What is held of the same document and came before it: it would have been sent before it."""
    return _same(item).filter(state=State.HELD, pk__lt=item.pk)


def newer(item: RetainItem) -> QuerySet[RetainItem]:
    """What came after it, went out before it, and would be written over, or has itself written over it."""
    sent = _same(item).filter(state__in=[State.QUEUED, State.SENT, State.DONE], pk__gt=item.pk)
    return sent if item.update_mode == RetainItem.Mode.REPLACE else sent.filter(update_mode=RetainItem.Mode.REPLACE)


def _same(item: RetainItem) -> QuerySet[RetainItem]:
    return RetainItem.objects.filter(bank=item.bank_id, document_hash=item.document_hash)


def _move(item: RetainItem, before: State, after: State, **changes: object) -> bool:
    rows = RetainItem.objects.filter(pk=item.pk, state=before, held=True, write=None)
    return bool(rows.update(state=after, **changes))

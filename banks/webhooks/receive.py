"""What comes in at `/hooks/hindsight/<token>`: checked, stored once, and answered without asking anybody.

Anybody may call it, so what has no good signature leaves no row; only the cache keeps for a while why the last one was
refused, for the bank's admins. What is good is believed as little as possible: that there is a document to look at, or
that the bank's counters may be old. Which bank, our own row says.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.core.cache import cache
from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from banks import crypto
from banks.models import Bank, Webhook, WebhookDelivery, Write
from banks.numbers.store import hurry
from banks.webhooks import signing

State = WebhookDelivery.State

MOST_BYTES = 64 * 1024  # a delivery has some 300
# A delivery with the old signature alone is as old as its body says. A server goes on trying for some hours.
V1_WINDOW = timedelta(days=1)
KEPT = timedelta(days=30)  # much longer than any delivery is taken
REFUSAL_KEPT = 7 * 86_400  # seconds
UNSTORABLE = re.compile("[\x00\ud800-\udfff]")  # NUL and halves of a character, which come by escapes
PLAIN_ID = re.compile(r"[\x21-\x7e]{1,100}")

RETAINED, CONSOLIDATED = "retain.completed", "consolidation.completed"
EVENTS = [RETAINED, CONSOLIDATED]
NOTHING = "nothing follows from this event"


class NotTaken(Exception):
    """Nothing was stored. `status`: of the answer; str() is for the log of the server that sent it."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


@dataclass(frozen=True)
class Said:
    """What the body claims, bounded and in text that every database can store."""

    event_id: str
    event: str
    document_id: str
    at: datetime | None


def receive(*, token: str, headers: Mapping[str, str], raw: bytes) -> str:
    """A short word: "stored", or "known" when it came before. Raises NotTaken."""
    hook = Webhook.objects.select_related("bank").filter(token=token, removed_at=None).first()
    if hook is None:
        raise NotTaken(404, "there is no webhook here")
    now = timezone.now()
    try:
        signature = _signature(hook, headers, raw, now)
        said = _read(raw)
        if signature == "v1" and (said.at is None or abs(now - said.at) > V1_WINDOW):
            raise signing.BadSignature("it has the old signature alone and its body does not say that it is new")
    except signing.BadSignature as refusal:
        _note(hook, str(refusal))
        raise NotTaken(403, str(refusal)) from refusal
    delivery_id = headers.get("X-Hindsight-Delivery-Id", "")
    if not PLAIN_ID.fullmatch(delivery_id):
        delivery_id = _id_of(raw)
    return _store(hook, said, delivery_id, signature, now)


def _signature(hook: Webhook, headers: Mapping[str, str], raw: bytes, now: datetime) -> str:
    try:
        secret = hook.secret
    except crypto.CannotDecrypt as error:
        _note(hook, "its secret was stored under an encryption key that is gone; remove it and register it again")
        raise NotTaken(503, "its secret cannot be read") from error
    return signing.check(
        secret,
        raw,
        v1=headers.get("X-Hindsight-Signature", ""),
        v2=headers.get("X-Hindsight-Signature-V2", ""),
        now=now.timestamp(),
        window=settings.WEBHOOK_WINDOW_SECONDS,
    )


def _read(raw: bytes) -> Said:
    """Signed, and still not believed to have any shape."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as error:
        raise NotTaken(400, "the body is no JSON") from error
    if not isinstance(body, dict):
        raise NotTaken(400, "the body is no JSON object")
    data = body.get("data")
    return Said(
        event_id=found if PLAIN_ID.fullmatch(found := _text(body.get("event_id"))) else _id_of(raw),
        event=_text(body.get("event"))[:60] or "unnamed",
        document_id=_text(data.get("document_id")) if isinstance(data, dict) else "",
        at=_time(_text(body.get("timestamp"))),
    )


def _id_of(raw: bytes) -> str:
    """Of what names itself by nothing that can be used."""
    return f"sha256:{hashlib.sha256(raw).hexdigest()}"


def _text(value: Any) -> str:
    return UNSTORABLE.sub("\ufffd", value) if isinstance(value, str) else ""


def _time(text: str) -> datetime | None:
    try:
        found = parse_datetime(text[:60])
    except ValueError:
        return None
    return found if found is not None and found.tzinfo is not None and 1970 < found.year < 9000 else None


def _store(hook: Webhook, said: Said, delivery_id: str, signature: str, now: datetime) -> str:
    """The row comes first; whatever follows from it belongs to its transaction."""
    with transaction.atomic():
        try:
            with transaction.atomic():
                row = WebhookDelivery.objects.create(
                    hook=hook,
                    delivery_id=delivery_id,
                    event_id=said.event_id,
                    event=said.event,
                    document_id=said.document_id,
                    document_hash=Write.hash_of(said.document_id) if said.document_id else "",
                    said_at=said.at,
                    signature=signature,
                    received_at=now,
                )
        except IntegrityError:
            # The header is not signed: the same event under another delivery id is known by its body.
            same = Q(delivery_id=delivery_id) | Q(event_id=said.event_id)
            hook.deliveries.filter(same).update(repeats=F("repeats") + 1)
            return "known"
        Webhook.objects.filter(pk=hook.pk).update(heard_at=now)
        _follow(hook.bank, row, now)
    return "stored"


def _follow(bank: Bank, row: WebhookDelivery, now: datetime) -> None:
    if row.event == CONSOLIDATED:
        hurry(bank)
        _set(row, outcome="the bank's numbers are read again")
    elif row.event != RETAINED:
        _set(row, outcome=NOTHING)
    elif not bank.polled:
        _set(row, outcome="new documents of this bank are not reviewed (policy)")
    elif not row.document_id:
        # Memories without an id: the bank gave them one and does not tell it. Its list does.
        Bank.objects.filter(pk=bank.pk, poll_after__gt=now).update(poll_after=now)
        _set(row, outcome="it names no document; the list of the bank's documents is looked at")
    else:
        # A session that is stored every few turns is looked at once, after the last of them.
        before = WebhookDelivery.objects.filter(hook=row.hook_id, document_hash=row.document_hash, pk__lt=row.pk)
        before.filter(state=State.WAITING, claimed_until=None).update(
            state=State.DONE, look_after=None, outcome="the document was stored again since"
        )
        _set(row, state=State.WAITING, look_after=now + bank.settle_time)


def _set(row: WebhookDelivery, **changes: Any) -> None:
    WebhookDelivery.objects.filter(pk=row.pk).update(**changes)


def _note(hook: Webhook, why: str) -> None:
    cache.set(_key(hook), (timezone.now(), why), REFUSAL_KEPT)


def last_refusal(hook: Webhook) -> tuple[datetime, str] | None:
    """When and why a delivery was refused last, as far as that is still known."""
    found: tuple[datetime, str] | None = cache.get(_key(hook))
    return found


def _key(hook: Webhook) -> str:
    return f"webhook-refused:{hook.pk}"


def forget(*, limit: int = 5_000) -> int:
    """Removes old deliveries, some at a time. Returns how many."""
    old = WebhookDelivery.objects.filter(received_at__lt=timezone.now() - KEPT).exclude(state=State.WAITING)
    keys = list(old.order_by("received_at").values_list("pk", flat=True)[:limit])
    removed = 0
    for start in range(0, len(keys), 500):
        removed += WebhookDelivery.objects.filter(pk__in=keys[start : start + 500]).delete()[0]
    return removed

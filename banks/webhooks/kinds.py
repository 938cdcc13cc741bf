"""A webhook is something that a bank gets and loses through the door, like everything else."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from django.utils import timezone

from banks import crypto, writes
from banks.hindsight import HindsightClient, HindsightError, NotFound, WebhookRow
from banks.models import Bank, Role, Webhook, Write
from banks.webhooks.receive import EVENTS
from banks.writes import Done, Kind, NotDone, Stuck, register
from banks.writes.kind import NO_PARAMS

ADD, REMOVE = "webhook-add", "webhook-remove"

NO_BANK = (
    "This bank is no longer on its server. Nothing was sent, since that would have created an empty bank of that name."
)
REMOVED_SINCE = "It was removed here before it was registered: nothing was sent."
UNREADABLE = (
    "Its secret was stored under an encryption key that is not in MEMADMIN_ENCRYPTION_KEYS any more. Nothing was sent: "
    "remove the webhook and register a new one."
)


class _OnWebhook(Kind):
    """`params`: webhook, the number of our row. Our address tells our webhook from those of others."""

    role = Role.ADMIN

    def slot(
        self, *, bank: Bank, document_id: str, fact_ids: Sequence[str] = (), params: Mapping[str, Any] = NO_PARAMS
    ) -> str:
        return hashlib.sha256(f"webhook\0{bank.pk}".encode()).hexdigest()


@register
class AddWebhook(_OnWebhook):
    name, glyph, verb, past, tone = ADD, "◎", "register webhook", "webhook registered", "none"

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | None:
        hook = _hook(write)
        if hook is None or hook.removed_at is not None:
            return Done({"said": REMOVED_SINCE})
        # Registering creates a bank where there is none, and nobody asked for that.
        if not client.has_bank(write.bank.bank_id):
            return Stuck(NO_BANK)
        found = _theirs(client, write.bank, hook)
        return Done(_told(found[0])) if found else None

    def send(self, client: HindsightClient, write: Write) -> Done | Stuck:
        hook = _hook(write)
        if hook is None:
            return Done({"said": REMOVED_SINCE})
        try:
            secret = hook.secret
        except crypto.CannotDecrypt:
            return Stuck(UNREADABLE)
        try:
            made = client.create_webhook(write.bank.bank_id, url=hook.address, secret=secret, events=EVENTS)
        except HindsightError as error:
            # A server may quote what it refuses, and the log keeps what it says.
            error.detail = error.detail.replace(secret, "…")
            raise
        return Done(_told(made))

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | Stuck:
        hook = _hook(write)
        found = _theirs(client, write.bank, hook) if hook is not None else []
        return Done(_told(found[0])) if found else NotDone()


@register
class RemoveWebhook(_OnWebhook):
    """Since its removal we take nothing from it; this tells the server to stop calling."""

    name, glyph, verb, past, tone = REMOVE, "✕", "remove webhook", "webhook removed", "none"

    def precheck(self, client: HindsightClient, write: Write) -> Done | None:
        return None if self._left(client, write) else Done({"said": "The server does not have it (any more)."})

    def send(self, client: HindsightClient, write: Write) -> Done:
        for row in self._left(client, write):
            try:
                client.delete_webhook(write.bank.bank_id, row.id)
            except NotFound:  # somebody was quicker
                continue
        return Done({"said": "The server does not call us for this bank any more."})

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone:
        return NotDone() if self._left(client, write) else Done({"said": "The server does not have it any more."})

    def _left(self, client: HindsightClient, write: Write) -> list[WebhookRow]:
        hook = _hook(write)
        try:
            return _theirs(client, write.bank, hook) if hook is not None else []
        except NotFound as error:
            if error.what != "bank":
                raise
            return []  # it went with its bank


def _hook(write: Write) -> Webhook | None:
    return Webhook.objects.filter(pk=write.params.get("webhook"), bank=write.bank_id).first()


def _theirs(client: HindsightClient, bank: Bank, hook: Webhook) -> list[WebhookRow]:
    """What the server has under our address: a request that was lost may have registered it twice."""
    return [row for row in client.list_webhooks(bank.bank_id) if row.url == hook.address]


def _told(row: WebhookRow) -> dict[str, Any]:
    missing = sorted(set(EVENTS) - set(row.events))
    said = f"The server does not tell of {', '.join(missing)}." if missing else "The server calls us from now on."
    return {"remote": row.id[:100], "said": said}


@writes.after(ADD)
def registered(write: Write) -> None:
    if write.state == Write.State.DONE and write.outcome.get("remote"):
        rows = Webhook.objects.filter(pk=write.params.get("webhook"), registered_at=None)
        rows.update(registered_at=timezone.now())

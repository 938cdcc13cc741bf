"""Registering and removing a bank's webhook: an admin's act, sent by the door."""

import secrets

from django.db import IntegrityError, transaction
from django.urls import reverse
from django.utils import timezone

from banks import writes
from banks.models import Bank, Webhook, Write
from banks.models.webhooks import new_token
from banks.services.refusal import Refusal
from banks.webhooks.kinds import ADD, REMOVE
from memadmin.accounts.models import User

ONE_IS_HERE = "This bank has a webhook already. To give it a new secret, remove it and register it again."
NONE_IS_HERE = "This bank has no webhook any more: somebody removed it meanwhile."
CANNOT = "No server can address this bank: its id has a slash."
GONE = "This bank is no longer on its server. Registering a webhook would create an empty bank of that name."


def register(*, actor: User, bank: Bank, base: str) -> Webhook:
    """`base`: where servers reach us, without a trailing slash. Raises Refusal."""
    if not bank.addressable:
        raise Refusal(CANNOT)
    if bank.gone_since is not None:
        raise Refusal(GONE)
    token = new_token()
    hook = Webhook(bank=bank, token=token, address=f"{base}{reverse('banks:webhook-receive', args=[token])}"[:500])
    hook.secret = secrets.token_urlsafe(32)
    with transaction.atomic():
        try:
            with transaction.atomic():
                hook.save()
        except IntegrityError as error:
            raise Refusal(ONE_IS_HERE) from error
        writes.record(kind=ADD, bank=bank, via=Write.Via.WEB, actor=actor, params={"webhook": hook.pk})
    return hook


@transaction.atomic
def remove(*, actor: User, bank: Bank) -> None:
    """From now on nothing is taken from it, whenever its server hears of it. Raises Refusal."""
    hook = Webhook.objects.filter(bank=bank, removed_at=None).first()
    if hook is None or not Webhook.objects.filter(pk=hook.pk, removed_at=None).update(removed_at=timezone.now()):
        raise Refusal(NONE_IS_HERE)
    writes.record(kind=REMOVE, bank=bank, via=Write.Via.WEB, actor=actor, params={"webhook": hook.pk})

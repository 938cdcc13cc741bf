"""A bank's webhook and what came by it, for the page of its admins."""

from dataclasses import dataclass
from datetime import datetime

from banks.models import Bank, Webhook, WebhookDelivery, Write
from banks.webhooks import kinds, receive

DELIVERIES_SHOWN = 50


@dataclass(frozen=True)
class WebhookState:
    """`write`: the row of the log that registers or removes it. `refusal`: when and why the last one was refused."""

    hook: Webhook | None
    write: Write | None
    refusal: tuple[datetime, str] | None


@dataclass(frozen=True)
class DeliveryPage:
    rows: list[WebhookDelivery]
    before: int  # where the next page begins; 0 = this is the last


def webhook_state(bank: Bank) -> WebhookState:
    hook = Webhook.objects.filter(bank=bank, removed_at=None).first()
    # Both kinds are rare: one row each time somebody presses the button.
    write = Write.objects.filter(bank=bank, kind__in=[kinds.ADD, kinds.REMOVE]).order_by("-occurred_at", "-pk").first()
    return WebhookState(hook, write, receive.last_refusal(hook) if hook is not None else None)


def deliveries(bank: Bank, *, before: int = 0) -> DeliveryPage:
    """The newest first, those of webhooks that were removed too. `before`: the last number of the page above."""
    found = WebhookDelivery.objects.filter(hook__bank=bank).order_by("-pk")
    if before:
        found = found.filter(pk__lt=before)
    rows = list(found[: DELIVERIES_SHOWN + 1])
    more, rows = len(rows) > DELIVERIES_SHOWN, rows[:DELIVERIES_SHOWN]
    return DeliveryPage(rows, rows[-1].pk if more else 0)

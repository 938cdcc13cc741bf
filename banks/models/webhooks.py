import secrets
from typing import ClassVar

from django.db import models
from django.db.models import Q
from django.utils import timezone

from banks import crypto
from banks.models.banks import Bank


def new_token() -> str:
    return secrets.token_urlsafe(24)


class Webhook(models.Model):
    """An address of ours that a bank's server calls. Knowing it is of no use without the secret.

    Registered and removed through the door; a removed one takes nothing more, and its row stays.
    """

    bank = models.ForeignKey(Bank, models.CASCADE, related_name="webhooks")
    token = models.CharField(max_length=43, unique=True, default=new_token, help_text="the end of our address")
    address = models.CharField(max_length=500, help_text="all of it, as the server was told")
    secret_encrypted = models.TextField()
    registered_at = models.DateTimeField(null=True, help_text="when its server had it; null = not yet")
    removed_at = models.DateTimeField(
        null=True, help_text="when an admin wanted it gone: from then on it takes nothing"
    )
    heard_at = models.DateTimeField(null=True, help_text="the last delivery with a good signature")
    created = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["bank"], name="webhook_one_per_bank", condition=Q(removed_at__isnull=True))
        ]

    def __str__(self) -> str:
        return f"webhook of {self.bank}"

    @property
    def secret(self) -> str:
        return crypto.decrypt(self.secret_encrypted)

    @secret.setter
    def secret(self, value: str) -> None:
        self.secret_encrypted = crypto.encrypt(value)


class WebhookDelivery(models.Model):
    """What a server told us, each once: the row is stored first, and what comes again finds it there.

    Nothing in it is believed but that something may have happened: a worker reads the document from its bank. Forgotten
    after a month (banks.webhooks.receive).
    """

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        DONE = "done", "done"
        FAILED = "failed", "failed"

    hook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    delivery_id = models.CharField(max_length=100, help_text="of the header, which is not signed")
    event_id = models.CharField(max_length=100, help_text="of the body, which is")
    event = models.CharField(max_length=60)
    document_id = models.TextField(blank=True, default="")
    document_hash = models.CharField(max_length=64, blank=True, default="")
    said_at = models.DateTimeField(null=True, help_text="when it happened, as the server says")
    signature = models.CharField(max_length=2, help_text="v1 or v2: the newest that was there")
    repeats = models.PositiveIntegerField(default=0, help_text="how often it came again")
    state = models.CharField(max_length=7, choices=State.choices, default=State.DONE)
    outcome = models.CharField(max_length=300, blank=True, default="")
    look_after = models.DateTimeField(null=True, help_text="when its document is looked at; null = there is no need")
    attempts = models.PositiveIntegerField(default=0)
    claimed_until = models.DateTimeField(null=True, help_text="a worker looks until then")
    received_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["hook", "delivery_id"], name="webhook_delivery_once"),
            models.UniqueConstraint(fields=["hook", "event_id"], name="webhook_event_once"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["look_after"], name="webhook_look_due", condition=Q(look_after__isnull=False)),
            models.Index(fields=["hook", "document_hash"], name="webhook_document"),
        ]

    def __str__(self) -> str:
        return f"{self.event} ({self.get_state_display()})"

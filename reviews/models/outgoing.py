import uuid
from typing import ClassVar

from django.db import models
from django.utils import timezone

from banks import crypto
from banks.models import Server
from reviews.models.notices import DailyChoice


class OutgoingHook(DailyChoice):
    """An address that a team is told at what waits on the banks of its server, as people are by mail."""

    server = models.ForeignKey(Server, models.CASCADE, related_name="outgoing_hooks")
    name = models.CharField(max_length=60, help_text="what it is for")
    host = models.CharField(max_length=255, help_text="all of its address that is shown: many are keys themselves")
    url_encrypted = models.TextField()
    secret_encrypted = models.TextField()
    removed_at = models.DateTimeField(null=True, help_text="its deliveries stay, and there are no more")

    class Meta:
        ordering: ClassVar = ["name", "id"]

    def __str__(self) -> str:
        return self.name

    @property
    def url(self) -> str:
        return crypto.decrypt(self.url_encrypted)

    @url.setter
    def url(self, value: str) -> None:
        self.url_encrypted = crypto.encrypt(value)

    @property
    def secret(self) -> str:
        return crypto.decrypt(self.secret_encrypted)

    @secret.setter
    def secret(self, value: str) -> None:
        self.secret_encrypted = crypto.encrypt(value)


class OutgoingDelivery(models.Model):
    """One message to one address on one of its days. The row is stored first, with the body that every try sends.

    Sent at least once: `event_id` is the same in each try, so that a receiver takes it once.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        SENT = "sent", "sent"
        EMPTY = "empty", "nothing to say"
        FAILED = "failed", "failed"

    hook = models.ForeignKey(OutgoingHook, models.CASCADE, related_name="deliveries")
    kind = models.CharField(max_length=6)
    day = models.DateField(help_text="of the address")
    event_id = models.UUIDField(default=uuid.uuid4, unique=True)
    body = models.TextField(blank=True, default="")
    state = models.CharField(max_length=7, choices=State.choices, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(default=0)
    not_before = models.DateTimeField(default=timezone.now)
    claimed_until = models.DateTimeField(null=True, help_text="a worker sends until then")
    status = models.PositiveSmallIntegerField(null=True, help_text="of the last answer")
    error = models.CharField(max_length=200, blank=True, default="")
    took = models.FloatField(null=True, help_text="seconds")
    created = models.DateTimeField(default=timezone.now)
    sent = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["hook", "kind", "day"], name="outgoing_once_a_day")]
        indexes: ClassVar = [models.Index(fields=["state", "not_before"], name="outgoing_due")]

    def __str__(self) -> str:
        return f"{self.kind} of {self.day} to {self.hook}"

from datetime import timedelta
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from banks.models.banks import Bank


class OperationLook(models.Model):
    """When a bank's operations were last read from its server, and when they are to be read again."""

    bank = models.OneToOneField(Bank, models.CASCADE, primary_key=True, related_name="operation_look")
    look_after = models.DateTimeField(default=timezone.now)
    claimed_until = models.DateTimeField(null=True, help_text="a worker reads them until then")
    looked_at = models.DateTimeField(null=True, help_text="the last look that got an answer")
    read_all_at = models.DateTimeField(null=True, help_text="the last look that asked by status too")
    moved_at = models.DateTimeField(default=timezone.now, help_text="when something about them last changed")
    open_total = models.PositiveIntegerField(null=True, help_text="as the server counted, parents included")
    failed_total = models.PositiveIntegerField(null=True)
    error = models.CharField(max_length=300, blank=True, default="")

    def __str__(self) -> str:
        return f"operations of {self.bank_id}"


class OperationSeen(models.Model):
    """An operation of a server as it was when it was last read: those that have not ended, failed ones, and a day.

    The server's lists do not say which parent a child has; `parent` is read from the parent.
    """

    class Phase(models.TextChoices):
        """What its status, and those of its children, come to. Statuses nobody knows have not ended."""

        OPEN = "open", "not ended"
        FAILED = "failed", "failed"
        ENDED = "ended", "ended"
        GONE = "gone", "no longer known"

    bank = models.ForeignKey(Bank, models.CASCADE, related_name="operations")
    parent = models.ForeignKey("self", models.CASCADE, null=True, related_name="children")
    operation_id = models.CharField(max_length=64)
    type = models.CharField(max_length=60, blank=True, default="")
    status = models.CharField(max_length=40, help_text="the server's word, or retrying")
    raw_status = models.CharField(max_length=40)
    phase = models.CharField(max_length=6, choices=Phase.choices)
    error = models.TextField(blank=True, default="")
    retry_count = models.PositiveIntegerField(default=0)
    next_retry_at = models.DateTimeField(null=True)
    document_id = models.TextField(blank=True, default="")
    about = models.CharField(max_length=300, blank=True, default="", help_text="the file or the mental model")
    items = models.PositiveIntegerField(default=0)
    began = models.DateTimeField(help_text="the server's created_at, else when it was first seen")
    moved_at = models.DateTimeField(null=True, help_text="when the server last changed it, by the server's clock")
    still_since = models.DateTimeField(help_text="since when nothing about it has changed, as far as is known")
    over_since = models.DateTimeField(null=True, help_text="since when it has ended")
    changed_at = models.DateTimeField(default=timezone.now, help_text="when a look last found something else about it")
    read_at = models.DateTimeField(null=True, help_text="when it was last read by itself")

    class Meta:
        ordering: ClassVar = ["-began", "-id"]
        indexes: ClassVar = [
            models.Index(fields=["-began", "-id"], name="operation_newest", condition=Q(parent=None)),
            models.Index(fields=["bank", "-began", "-id"], name="operation_bank_newest", condition=Q(parent=None)),
            models.Index(fields=["phase", "bank", "still_since"], name="operation_phase"),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["bank", "operation_id"], name="operation_once"),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.operation_id} ({self.status})"

    @staticmethod
    def stuck_before() -> timedelta:
        """For how long nothing has to happen to an operation until it is called stuck."""
        return timedelta(minutes=settings.STUCK_MINUTES)

    @property
    def stuck(self) -> bool:
        return self.phase == self.Phase.OPEN and self.still_since <= timezone.now() - self.stuck_before()

    @property
    def may_be_retried(self) -> bool:
        return self.raw_status in {"failed", "cancelled"} or (
            self.raw_status == "pending" and self.next_retry_at is not None
        )

    @property
    def may_be_forgotten(self) -> bool:
        """Its parts, too, have ended."""
        return self.phase in {self.Phase.FAILED, self.Phase.ENDED}

    @property
    def may_be_cancelled(self) -> bool:
        return self.raw_status in {"pending", "processing"}

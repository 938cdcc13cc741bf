from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone


class Job(models.Model):
    """Long work a person waits for: the page polls this row, never a Celery result."""

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        RUNNING = "running", "running"
        DONE = "done", "done"
        FAILED = "failed", "failed"
        CANCELLED = "cancelled", "cancelled"

    ENDED: ClassVar = [State.DONE, State.FAILED, State.CANCELLED]

    kind = models.CharField(max_length=30)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, null=True, related_name="jobs")
    once = models.UUIDField(null=True, unique=True, help_text="of the form it came from: however often that is sent")
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    title = models.CharField(max_length=300, blank=True, default="")
    params = models.JSONField(default=dict)
    cursor = models.JSONField(default=dict, help_text="where to go on after a crash")
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(null=True, help_text="null while unknown")
    result = models.JSONField(default=dict)
    error = models.TextField(blank=True, default="")
    claimed_until = models.DateTimeField(null=True, help_text="a worker holds it until then")
    attempts = models.PositiveSmallIntegerField(default=0, help_text="starts since the last progress")
    created = models.DateTimeField(default=timezone.now)
    started = models.DateTimeField(null=True)
    finished = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-id"]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk} ({self.get_state_display()})"

    @property
    def ended(self) -> bool:
        return self.state in self.ENDED


class JobItem(models.Model):
    """One item of a job that a person may want to read about, such as a skipped line."""

    job = models.ForeignKey(Job, models.CASCADE, related_name="items")
    number = models.PositiveIntegerField(help_text="line number, from 1")
    outcome = models.CharField(max_length=20)
    reason = models.CharField(max_length=300, blank=True, default="")
    raw = models.BinaryField(default=bytes)

    class Meta:
        ordering: ClassVar = ["job", "number"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["job", "number"], name="job_item_number"),
        ]

    def __str__(self) -> str:
        return f"line {self.number}: {self.outcome}"

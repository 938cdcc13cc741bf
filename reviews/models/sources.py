from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from banks.models import Job, Server
from reviews.models.entries import ReviewEntry


class SourceFile(models.Model):
    """A developer's review-queue.jsonl, as one source however often it is imported."""

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="source_files")
    machine = models.CharField(max_length=200, blank=True, default="", help_text="whose file it is: a machine's name")
    # {normalised base URL in the file: server id}; a file's localhost is the developer's machine, not ours.
    # The key "localhost" stands for every loopback address of the file, the key "*" for every address.
    mapping = models.JSONField(default=dict)
    trusts_loopback = models.BooleanField(
        default=False, help_text="read on the server itself: a loopback address means our own server"
    )
    # A file of this machine that is watched (reviews.watching); an upload has no path.
    path = models.TextField(blank=True, default="")
    seen = models.JSONField(default=dict, help_text="size, time and inode of the file as it was last read")
    looked_at = models.DateTimeField(null=True)
    trouble = models.CharField(max_length=300, blank=True, default="", help_text="why it could not be read")
    created = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["owner", "machine"], name="source_file_owner_machine")]

    def __str__(self) -> str:
        return f"{self.machine or 'queue file'} of {self.owner}"


class SourceEvent(models.Model):
    """One imported line, raw. Its identity is its canonical content and occurrence, never a byte offset."""

    class State(models.TextChoices):
        APPLIED = "applied", "applied"
        SUPERSEDED = "superseded", "superseded by a later line"
        OLDER = "older", "older than the stored decision"
        PARKED = "parked", "parked"
        PENDING = "pending", "not applied yet"

    # db_index=False here and elsewhere: another index begins with this column.
    source = models.ForeignKey(SourceFile, models.CASCADE, related_name="events", db_index=False)
    identity = models.CharField(max_length=64, help_text="sha256 of the canonical event and its occurrence")
    line = models.PositiveIntegerField(help_text="line number at first import, from 1")
    ev = models.CharField(max_length=4)
    document_id = models.TextField()
    bank_id = models.TextField(blank=True, default="")
    base_url = models.TextField(blank=True, default="")
    namespace = models.TextField(blank=True, default="")
    project = models.TextField(blank=True, default="")
    reason = models.TextField(blank=True, default="")
    language = models.TextField(blank=True, default="")
    action = models.TextField(blank=True, default="")
    by = models.TextField(blank=True, default="")
    ts = models.TextField(blank=True, default="", help_text="as it stood in the file")
    at = models.DateTimeField(null=True, help_text="ts, when it is an ISO time")
    raw = models.BinaryField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.PENDING)
    reason_text = models.CharField(max_length=300, blank=True, default="")
    entry = models.ForeignKey(ReviewEntry, models.SET_NULL, null=True, related_name="source_events")
    job = models.ForeignKey(Job, models.SET_NULL, null=True, related_name="+", help_text="the import that brought it")
    created = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["source", "identity"], name="source_event_identity"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["source", "created", "line"], name="source_event_parked", condition=Q(state="parked"))
        ]

    def __str__(self) -> str:
        return f"{self.ev} {self.document_id} (line {self.line})"


class Parked(models.Model):
    """What we could not place, or whose sender has no right on the bank: one reason text for both, so that nobody
    learns which banks exist. Visible to its owner and to server admins, who may assign it: those of `server`, when the
    line names a registered server, else those of any."""

    event = models.OneToOneField(SourceEvent, models.CASCADE, related_name="parked")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="parked")
    reason = models.CharField(max_length=300)
    server = models.ForeignKey(
        Server, models.SET_NULL, null=True, related_name="+", help_text="the server the line belongs to, when known"
    )
    created = models.DateTimeField(default=timezone.now)
    assigned_at = models.DateTimeField(null=True)
    assigned_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")

    class Meta:
        verbose_name_plural = "parked"
        ordering: ClassVar = ["id"]
        indexes: ClassVar = [
            models.Index(fields=["owner", "id"], name="parked_open", condition=Q(assigned_at__isnull=True))
        ]

    def __str__(self) -> str:
        return f"{self.event}: {self.reason}"

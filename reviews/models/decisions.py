from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from banks.models import Write
from reviews.models.entries import ReviewEntry


class Decision(models.Model):
    """Append-only: who decided what about which text, and as what. The entry caches the latest."""

    class Verdict(models.TextChoices):
        APPROVED = "approved", "approved"
        DELETED = "deleted", "deleted"
        EDITED = "edited", "edited"
        REOPENED = "reopened", "reopened"
        GONE = "gone", "closed as gone"
        REJECTED = "rejected", "rejected"
        VOUCHED = "vouched", "vouched for"  # approved by the first of two (reviews.services.approvals)
        WITHDRAWN = "withdrawn", "withdrew the approval of"

    class Via(models.TextChoices):
        PERSON = "person", "a person"
        EXPIRY = "expiry", "time"
        HOUSEKEEPING = "housekeeping", "housekeeping"
        FILE = "file", "claimed by a file"

    entry = models.ForeignKey(ReviewEntry, models.PROTECT, related_name="decisions", db_index=False)  # see indexes
    verdict = models.CharField(max_length=10, choices=Verdict.choices)
    decided_via = models.CharField(max_length=12, choices=Via.choices)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="decisions")
    user_name = models.CharField(max_length=150, blank=True, default="", help_text="as it was then")
    version = models.PositiveIntegerField(help_text="the entry's version that was on screen")
    text_hash = models.CharField(max_length=64, blank=True, default="", help_text="our sha256 of the text decided on")
    content_hash = models.CharField(max_length=64, blank=True, default="", help_text="the server's hash decided on")
    write = models.ForeignKey(Write, models.PROTECT, null=True, related_name="+", help_text="its row in the write log")
    event = models.ForeignKey(
        "reviews.SourceEvent",
        models.SET_NULL,
        null=True,
        related_name="+",
        help_text="the imported line that claims it",
    )
    note = models.CharField(max_length=300, blank=True, default="")
    at = models.DateTimeField(default=timezone.now)
    number = models.BigIntegerField(null=True, help_text="its place in the feed for programs, once it has taken effect")

    class Meta:
        ordering: ClassVar = ["-at", "-id"]
        indexes: ClassVar = [
            models.Index(fields=["entry", "-id"], name="decision_entry"),
            models.Index(fields=["-at", "-id"], name="decision_newest"),
            models.Index(fields=["user", "at"], name="decision_user", condition=Q(user__isnull=False)),
            models.Index(fields=["id"], name="decision_unnumbered", condition=Q(number__isnull=True)),
        ]
        constraints: ClassVar = [
            # Of two who number at once one comes too late (reviews.services.feed).
            models.UniqueConstraint(fields=["number"], name="decision_number", condition=Q(number__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.verdict} by {self.user_name or self.get_decided_via_display()}"


class Seen(models.Model):
    """A person opened this text: written by an explicit post of the opened card, never by a GET or a prefetch."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    entry = models.ForeignKey(ReviewEntry, models.CASCADE, related_name="seen")
    text_hash = models.CharField(max_length=64)
    parts = models.JSONField(
        default=list, help_text="of a text too long to be shown at once: the parts that were opened, from 1"
    )
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name_plural = "seen"
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "entry", "text_hash"], name="seen_once"),
        ]

    def __str__(self) -> str:
        return f"{self.user} saw {self.entry}"

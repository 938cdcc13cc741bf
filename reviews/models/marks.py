from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from reviews.models.entries import ReviewEntry


class Mark(models.Model):
    """What screening found in the text of an entry as it is now: a kind of risk, where, and why.

    A person may dismiss it with a reason; the same finding in a later text of the entry stays dismissed.
    """

    entry = models.ForeignKey(ReviewEntry, models.CASCADE, related_name="found", db_index=False)
    kind = models.CharField(max_length=12)
    tone = models.CharField(max_length=10)
    start = models.PositiveIntegerField(help_text="code points; with end = 0 it is about the whole text")
    end = models.PositiveIntegerField()
    why = models.CharField(max_length=300)
    other = models.ForeignKey(
        ReviewEntry, models.SET_NULL, null=True, related_name="+", help_text="that says nearly the same"
    )
    key = models.CharField(max_length=64, help_text="keyed hash of the kind and of what was found")
    rules = models.PositiveSmallIntegerField(help_text="version of the rules that found it")
    dismissed = models.DateTimeField(null=True)
    dismissed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    dismissed_name = models.CharField(max_length=150, blank=True, default="")
    reason = models.CharField(max_length=300, blank=True, default="")
    created = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["start", "id"]
        indexes: ClassVar = [models.Index(fields=["entry", "start", "id"], name="mark_of_entry")]
        constraints: ClassVar = [
            models.CheckConstraint(condition=Q(end__gte=models.F("start")), name="mark_ends_behind_its_start")
        ]

    def __str__(self) -> str:
        return f"{self.kind} in {self.entry_id}"

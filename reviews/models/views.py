from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from reviews.models.entries import ReviewEntry


class SavedView(models.Model):
    """A list of a person's own: what it asks for, under a name."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="saved_views", db_index=False)
    name = models.CharField(max_length=60)
    query = models.TextField(help_text="as the address of the list says it, from its ?")
    created = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "name"], name="saved_view_name"),
        ]

    def __str__(self) -> str:
        return self.name


class Skip(models.Model):
    """A person goes on without a decision: in this version the memory stands at the end of their lists."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", db_index=False)
    entry = models.ForeignKey(ReviewEntry, models.CASCADE, related_name="skips")
    version = models.PositiveIntegerField()
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["user", "entry"], name="skip_once"),
        ]

    def __str__(self) -> str:
        return f"{self.user} skipped {self.entry}"

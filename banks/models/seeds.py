import hashlib
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from banks.models.banks import Bank
from banks.models.blobs import Blob


class Seed(models.Model):
    """A mental model that the team wants in its banks, as it is to be created. Never a model itself.

    Those that memadmin brings along are no rows (banks.seeds.builtin). Shapes of the values: banks.seeds.shape.
    """

    seed_id = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=200)
    source_query = models.TextField()
    scopes = models.JSONField(default=list, help_text="in which scopes it is wanted")
    project_tagged = models.BooleanField(default=False, help_text="in a tagged scope it reads one project's memories")
    extra_tags = models.JSONField(default=list)
    max_tokens = models.PositiveIntegerField()
    trigger = models.JSONField(default=dict, help_text="when and how servers refresh it, in their words")
    created = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["seed_id"]

    def __str__(self) -> str:
        return self.seed_id


class ModelPin(models.Model):
    """A text of a mental model that a person wants agents to read, whatever the server writes into it later.

    Servers take no text of a model, so it stays with us; `automatic`: what refreshed it by itself until then.
    """

    bank = models.ForeignKey(Bank, models.CASCADE, related_name="model_pins")
    model_id = models.TextField()
    model_hash = models.CharField(max_length=64, help_text="sha256 of the id, as of a bank's")
    text = models.ForeignKey(Blob, models.PROTECT, related_name="+")
    version_at = models.DateTimeField(null=True, help_text="when the server replaced this text; null = it had not")
    automatic = models.JSONField(default=dict)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    user_name = models.CharField(max_length=150, blank=True, default="", help_text="as it was then")
    created = models.DateTimeField(default=timezone.now)
    ended = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["bank", "model_hash"], name="model_pin_one_at_a_time", condition=Q(ended__isnull=True)
            )
        ]

    def __str__(self) -> str:
        return f"pin of {self.model_id}"

    @staticmethod
    def hash_of(model_id: str) -> str:
        return hashlib.sha256(model_id.encode("utf-8", "surrogatepass")).hexdigest()

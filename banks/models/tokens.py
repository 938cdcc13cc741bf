from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from banks.models.banks import Bank, Role


class ApiToken(models.Model):
    """What a program shows instead of a password. Only the hash of it is stored, and the row is never removed.

    It never gives more than its owner has at that moment: `role` and `banks` take away.
    """

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="tokens")
    name = models.CharField(max_length=60, help_text="what it is for; the write log says it")
    prefix = models.CharField(max_length=12, help_text="its first characters, to tell it from others")
    token_hash = models.CharField(max_length=64, unique=True)
    role = models.PositiveSmallIntegerField(choices=Role, help_text="at most")
    all_banks = models.BooleanField(default=False, help_text="every bank its owner may see; else only `banks`")
    banks = models.ManyToManyField(Bank, related_name="+", blank=True)
    created = models.DateTimeField(default=timezone.now)
    expires = models.DateTimeField()
    last_used = models.DateTimeField(null=True, help_text="to the minute")
    revoked = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        indexes: ClassVar = [models.Index(fields=["owner", "-id"], name="api_token_owner")]

    # The primary keys in `banks`, None for all; read once, when the token opens something (banks.services.tokens).
    bank_ids: frozenset[int] | None = frozenset()

    def __str__(self) -> str:
        return self.name

    @property
    def state(self) -> str:
        """ "live", "expired" or "revoked"."""
        if self.revoked is not None:
            return "revoked"
        return "live" if self.expires > timezone.now() else "expired"


class IdempotencyKey(models.Model):
    """A POST that was answered, so that it is done once however often it arrives. Forgotten after a day.

    The row is stored first, in the transaction of the act; the answer belongs to the same transaction.
    """

    token = models.ForeignKey(ApiToken, models.CASCADE, related_name="+", db_index=False)  # see constraints
    key = models.CharField(max_length=200)
    request_hash = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(default=0)
    response = models.TextField(blank=True, default="")  # as it was sent: jsonb would change the order of its keys
    created = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["token", "key"], name="idempotency_key_once")]

    def __str__(self) -> str:
        return f"{self.key} ({self.status})"

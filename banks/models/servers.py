from typing import ClassVar

from django.db import models
from django.utils import timezone

from banks import crypto


class Server(models.Model):
    """A Hindsight server and namespace that an admin registered. Nothing else is ever contacted."""

    class Health(models.TextChoices):
        UNKNOWN = "unknown", "not asked yet"
        OK = "ok", "ok"
        DEGRADED = "degraded", "degraded"
        UNREACHABLE = "unreachable", "unreachable"
        REFUSED = "refused", "key refused"

    class SeedNew(models.TextChoices):
        """Not with tags: of a bank that has just appeared nobody knows whose projects come into it."""

        NO = "", "no"
        GLOBAL = "global", "as banks of everything (global)"
        PER_PROJECT = "per-project", "as a project's own banks (per-project)"

    name = models.CharField(max_length=100, unique=True)
    base_url = models.CharField(max_length=500, help_text="normalised, without a trailing slash")
    other_urls = models.JSONField(default=list, blank=True, help_text="other addresses of the same server")
    namespace = models.CharField(max_length=100, default="default")
    api_key_encrypted = models.TextField(blank=True, default="")
    connect_timeout = models.FloatField(default=5.0, help_text="seconds")
    read_timeout = models.FloatField(default=30.0, help_text="seconds")
    api_version = models.CharField(max_length=50, blank=True, default="")
    features = models.JSONField(default=dict, blank=True)
    health = models.CharField(max_length=12, choices=Health.choices, default=Health.UNKNOWN)
    health_text = models.CharField(max_length=300, blank=True, default="")
    writes_paused = models.BooleanField(default=False)
    seed_new_banks = models.CharField(
        max_length=12,
        blank=True,
        choices=SeedNew.choices,
        default=SeedNew.NO,
        help_text="whether banks that appear on it get the mental models of our seeds",
    )
    is_demo = models.BooleanField(default=False)
    last_checked = models.DateTimeField(null=True, blank=True)
    # Circuit breaker: after `failures` connection failures in a row nothing is sent before `closed_until`.
    failures = models.PositiveIntegerField(default=0)
    closed_until = models.DateTimeField(null=True, blank=True)
    numbers_claimed_until = models.DateTimeField(
        null=True, blank=True, help_text="a worker reads the numbers of its banks until then"
    )
    created = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["base_url", "namespace"], name="server_url_namespace_unique")
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def api_key(self) -> str:
        return crypto.decrypt(self.api_key_encrypted)

    @api_key.setter
    def api_key(self, value: str) -> None:
        self.api_key_encrypted = crypto.encrypt(value)

    @property
    def addresses(self) -> list[str]:
        return [self.base_url, *self.other_urls]

import hashlib
from datetime import timedelta
from typing import Any, ClassVar

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils import timezone

from banks.models.servers import Server


class Reapply(models.TextChoices):
    """What becomes of decisions about facts when a document was extracted anew."""

    AUTO = "auto", "apply them again"
    ASK = "ask", "ask a person"
    OFF = "off", "let them go"


class BankManager(models.Manager["Bank"]):
    def get_or_register(self, *, server: Server, bank_id: str, **defaults: Any) -> "Bank":
        """Our row for this bank. Registering a bank never creates one on the server."""
        bank, _ = self.get_or_create(
            server=server, bank_hash=Bank.hash_of(bank_id), defaults={"bank_id": bank_id, **defaults}
        )
        return bank


LONGEST_SETTLE_MINUTES = 366 * 24 * 60  # longer ones would leave the calendar


class Bank(models.Model):
    """A memory bank of a server, under its raw id."""

    class Kind(models.TextChoices):
        PROJECT = "project", "project"
        PERSON = "person", "person"

    server = models.ForeignKey(Server, models.CASCADE, related_name="banks")
    bank_id = models.TextField()
    bank_hash = models.CharField(max_length=64, help_text="sha256 of the id: PostgreSQL cannot index long text")
    name = models.CharField(max_length=300, blank=True, default="")
    named_here = models.BooleanField(default=False, help_text="an admin named it; else it is called as its server says")
    language = models.CharField(max_length=35, blank=True, default="")
    kind = models.CharField(max_length=10, choices=Kind.choices, default=Kind.PROJECT)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="own_banks",
        help_text="whose standing facts it has: they see it, its admins do, and nobody else (banks.access)",
    )
    # Policy
    auto_approve_days = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(0)],
        help_text="empty = inherit, 0 = wait for a person",
    )
    expire_marked = models.BooleanField(default=False, help_text="danger-marked memories may be approved by time")
    two_reviewers = models.BooleanField(
        default=False, help_text="two people have to approve a memory; neither time nor a file does"
    )
    bars_writer = models.BooleanField(default=False, help_text="who wrote or edited a text does not approve it")
    reapply = models.CharField(
        max_length=4,
        choices=Reapply.choices,
        default=Reapply.AUTO,
        help_text="what becomes of retired and edited facts when their document is extracted anew",
    )
    # What memories that come through us get (banks.retain)
    hold = models.BooleanField(default=False, help_text="they wait for a reviewer, and are sent when one approves them")
    retain_context = models.TextField(blank=True, default="", help_text="of memories that bring none; empty = none")
    retain_mission = models.TextField(blank=True, default="", help_text="set where the bank has none; empty = leave it")
    reflect_mission = models.TextField(blank=True, default="", help_text="the same for what it answers")
    # Looking for new and changed documents (reviews.polling)
    polled = models.BooleanField(default=True, help_text="its documents are looked at regularly")
    settle_minutes = models.PositiveIntegerField(
        null=True, blank=True, help_text="a document opens once it was quiet for so long; empty = inherit"
    )
    reopen_on_change = models.BooleanField(default=True, help_text="a decided document that changes opens again")
    watermark = models.DateTimeField(null=True, help_text="changes up to then were looked at; null = never looked")
    poll_after = models.DateTimeField(default=timezone.now, help_text="when to look again")
    poll_claimed_until = models.DateTimeField(null=True, help_text="a worker looks until then")
    polled_at = models.DateTimeField(null=True, help_text="the last look that got an answer")
    walked_at = models.DateTimeField(null=True, help_text="the last look at all of its documents")
    poll_error = models.CharField(max_length=300, blank=True, default="")
    # What the server said, and when
    document_count = models.PositiveIntegerField(null=True)
    fact_count = models.PositiveIntegerField(null=True)
    retired_count = models.PositiveIntegerField(null=True)
    counted_at = models.DateTimeField(null=True)
    gone_since = models.DateTimeField(null=True, help_text="when the server's bank list first lacked it")
    created = models.DateTimeField(default=timezone.now)

    objects: ClassVar[BankManager] = BankManager()

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["server", "bank_hash"], name="bank_server_id_unique"),
        ]

    def __str__(self) -> str:
        return self.name or self.bank_id

    @property
    def personal(self) -> bool:
        """A person's bank: seen by few, and written to only by who names it as one."""
        return self.kind == self.Kind.PERSON

    @staticmethod
    def hash_of(bank_id: str) -> str:
        return hashlib.sha256(bank_id.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def addressable(self) -> bool:
        """The server lists banks whose id has a slash, but no route reaches them."""
        return "/" not in self.bank_id

    @property
    def settle_time(self) -> timedelta:
        minutes = settings.SETTLE_MINUTES if self.settle_minutes is None else self.settle_minutes
        return timedelta(minutes=min(max(minutes, 0), LONGEST_SETTLE_MINUTES))

    @property
    def approve_after_days(self) -> float:
        """Days until an undecided memory is approved by time; 0 = never."""
        days = settings.AUTO_APPROVE_DAYS if self.auto_approve_days is None else self.auto_approve_days
        return max(float(days), 0.0)


class Role(models.IntegerChoices):
    """What a person may do on a bank; each role includes those before it."""

    VIEWER = 1, "viewer"
    REVIEWER = 2, "reviewer"
    ADMIN = 3, "admin"


class Membership(models.Model):
    """A person's role on one bank, or on every bank of a server."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    bank = models.ForeignKey(Bank, models.CASCADE, null=True, blank=True, related_name="memberships")
    server = models.ForeignKey(Server, models.CASCADE, null=True, blank=True, related_name="memberships")
    role = models.PositiveSmallIntegerField(choices=Role.choices, default=Role.VIEWER)
    created = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(bank__isnull=True, server__isnull=False) | Q(bank__isnull=False, server__isnull=True),
                name="membership_bank_or_server",
            ),
            models.UniqueConstraint(
                fields=["user", "bank"], name="membership_user_bank", condition=Q(bank__isnull=False)
            ),
            models.UniqueConstraint(
                fields=["user", "server"], name="membership_user_server", condition=Q(server__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user}: {self.get_role_display()} of {self.bank or self.server}"

import hashlib
import uuid
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from banks.models.banks import Bank
from banks.models.blobs import Blob
from banks.models.tokens import ApiToken


class Write(models.Model):
    """The write log: one row per thing done, or tried, to a bank. The row is stored before anything is sent.

    Finished rows do not change. Who did it (`actor`) and through what (`via`) are for ever.
    """

    class State(models.TextChoices):
        QUEUED = "queued", "queued"
        SENDING = "sending", "sending"
        UNKNOWN = "unknown", "unknown, reading back"
        ACCEPTED = "accepted", "accepted, the bank is working"
        RETRYING = "retrying", "retrying"
        ATTENTION = "attention", "needs a person"
        CHANGED = "changed", "changed since decided"
        DONE = "done", "done"
        CANCELLED = "cancelled", "cancelled"

    class Via(models.TextChoices):
        WEB = "web", "web"
        API = "api", "API"
        CLI = "cli", "command line"
        IMPORT = "import", "import"
        EXPIRY = "expiry", "by time"
        HOUSEKEEPING = "housekeeping", "housekeeping"
        REAPPLY = "reapply", "applied again"
        WEBHOOK = "webhook", "webhook"
        OBSERVED = "observed", "observed on the server"

    # A slot has at most one row in these states; the partial unique index below is the law, not a lock.
    IN_FLIGHT: ClassVar = [State.SENDING, State.UNKNOWN, State.ACCEPTED]
    # A later write of the slot waits for these.
    OPEN: ClassVar = [State.QUEUED, State.RETRYING, *IN_FLIGHT]

    kind = models.CharField(max_length=30)
    bank = models.ForeignKey(Bank, models.PROTECT, related_name="writes")
    slot = models.CharField(
        max_length=64,
        blank=True,
        default="",
        help_text="what it must be serial with; empty = nothing is sent",
    )
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="writes")
    actor_name = models.CharField(max_length=150, blank=True, default="", help_text="as it was then")
    # Tokens are never removed, so nothing looks for the rows of one.
    token = models.ForeignKey(
        ApiToken, models.PROTECT, null=True, blank=True, related_name="+", db_index=False, help_text="what it came by"
    )
    via = models.CharField(max_length=12, choices=Via.choices)
    document_id = models.TextField(blank=True, default="")
    document_hash = models.CharField(max_length=64, blank=True, default="")
    fact_ids = models.JSONField(default=list, blank=True)
    params = models.JSONField(default=dict, blank=True, help_text="small parameters of the request")
    request = models.ForeignKey(Blob, models.PROTECT, null=True, related_name="+", help_text="the text that is sent")
    before = models.ForeignKey(Blob, models.PROTECT, null=True, related_name="+")
    after = models.ForeignKey(Blob, models.PROTECT, null=True, related_name="+")
    facts_before = models.ForeignKey(Blob, models.PROTECT, null=True, related_name="+", help_text="JSON list")
    private = models.ForeignKey(
        Blob,
        models.PROTECT,
        null=True,
        related_name="+",
        help_text="what a person typed: shown to the bank's admins alone, who say so in the log",
    )
    decided_hash = models.CharField(
        max_length=64, blank=True, default="", help_text="the server's content_hash decided on"
    )
    decided_created = models.DateTimeField(null=True, help_text="the document's created_at decided on")
    operation_id = models.UUIDField(default=uuid.uuid4, editable=False)
    group = models.UUIDField(null=True, blank=True, help_text="one bulk action")
    undo_of = models.ForeignKey("self", models.PROTECT, null=True, blank=True, related_name="undone_by")
    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    attempts = models.PositiveIntegerField(default=0)
    not_before = models.DateTimeField(default=timezone.now)
    claim = models.PositiveIntegerField(default=0, help_text="goes up with each claim; who lost it stores nothing")
    claimed_until = models.DateTimeField(null=True, help_text="a worker holds it until then")
    dispatched_until = models.DateTimeField(null=True, help_text="a message to a worker is on its way until then")
    error_class = models.CharField(max_length=60, blank=True, default="")
    error_status = models.PositiveSmallIntegerField(null=True)
    error_text = models.TextField(blank=True, default="")
    error_took = models.FloatField(null=True, help_text="seconds")
    outcome = models.JSONField(
        default=dict, blank=True, help_text="what the server said: counts, operations, ignored fields"
    )
    occurred_at = models.DateTimeField(default=timezone.now, help_text="what lists are ordered by")
    created = models.DateTimeField(default=timezone.now)
    sent = models.DateTimeField(null=True)
    finished = models.DateTimeField(null=True)

    class Meta:
        ordering: ClassVar = ["-occurred_at", "-id"]
        indexes: ClassVar = [
            models.Index(fields=["-occurred_at", "-id"], name="write_newest"),
            models.Index(fields=["bank", "-occurred_at", "-id"], name="write_bank_newest"),
            models.Index(fields=["bank", "document_hash", "-id"], name="write_document"),
            # Behind the id stands what is often asked for as well: rows without it are passed over without being read.
            models.Index(fields=["kind", "bank", "-occurred_at", "-id", "via"], name="write_kind_newest"),
            models.Index(fields=["via", "bank", "-occurred_at", "-id"], name="write_via_newest"),
            models.Index(
                fields=["actor", "bank", "-occurred_at", "-id", "kind"],
                name="write_actor_newest",
                condition=Q(actor__isnull=False),
            ),
            models.Index(
                fields=["state", "bank", "-occurred_at", "-id", "kind"], name="write_undone", condition=~Q(state="done")
            ),
            # Over all rows, although few are not done: SQLite would not use partial ones where a query lists states.
            models.Index(fields=["state", "not_before"], name="write_due"),
            models.Index(fields=["state", "bank", "id"], name="write_state_bank"),
            models.Index(fields=["slot", "id"], name="write_slot"),
            models.Index(fields=["bank", "finished"], name="write_sent", condition=Q(state="done") & ~Q(slot="")),
            models.Index(fields=["group"], name="write_group", condition=Q(group__isnull=False)),
        ]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["slot"],
                name="write_one_in_flight_per_slot",
                condition=Q(state__in=["sending", "unknown", "accepted"]) & ~Q(slot=""),
            ),
            models.UniqueConstraint(fields=["operation_id"], name="write_operation_id"),
        ]

    # Which later row saw that a delete did not last; set by banks.selectors for the rows of a page.
    came_back: int | None = None
    # How many memories a batch of the retain queue has; set by banks.retain.selectors for the rows of a page.
    memories: int | None = None
    # What the file of a row is called; set by banks.files.selectors for the rows of a page.
    file_name: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.document_id or self.bank} ({self.get_state_display()})"

    @staticmethod
    def hash_of(document_id: str) -> str:
        return hashlib.sha256(document_id.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def is_open(self) -> bool:
        return self.state in self.OPEN

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from banks.models import Bank, Blob, RetainItem, Write


class EntryQuerySet(models.QuerySet["ReviewEntry"]):
    def of_document(self, *, bank: Bank, document_id: str) -> "EntryQuerySet":
        return self.filter(bank=bank, document_hash=Write.hash_of(document_id))


# What is special about a few pending memories. SQLite uses a partial index only where a query says its condition word
# for word, with single values: no lists in these.
FLAGGED = Q(danger=True) | ~Q(marks=[])
BROKEN = ~Q(load_state="loaded") & ~Q(load_state="loading")
REOPENED = ~Q(reopened_because="")
UNSCREENED = Q(screened=0) & Q(state="pending")
NO_FACTS = Q(fact_count=0) & Q(load_state="loaded")


class ReviewEntry(models.Model):
    """One document of one bank, waiting for a decision or decided. There is one row per (bank, document).

    With an `item` it is a memory that was held for review and is no document yet, perhaps beside the row of the
    document that it is to replace. When the bank has it, it becomes the document's row, or that row takes it over.
    """

    class State(models.TextChoices):
        HELD = "held", "held"  # not in the bank: sent when it is approved
        PENDING = "pending", "pending"
        DELETING = "deleting", "deleting"
        APPROVED = "approved", "approved"
        DELETED = "deleted", "deleted"
        REJECTED = "rejected", "rejected"  # held before, and never sent

    class Load(models.TextChoices):
        LOADING = "loading", "loading"
        LOADED = "loaded", "loaded"
        MISSING = "missing", "missing"
        UNREACHABLE = "unreachable", "could not load"
        REFUSED = "refused", "refused"

    class Reopened(models.TextChoices):
        """Why a memory that was decided waits again, when no person of ours opened it."""

        CHANGED = "changed", "changed since decided"
        CAME_BACK = "came-back", "came back after delete"
        NOT_DELETED = "not-deleted", "the delete did not happen"
        CONTRADICTED = "contradicted", "a file said it was deleted"

    WAITING: ClassVar = [State.PENDING, State.HELD]
    WANTED_DELETED: ClassVar = [Reopened.CAME_BACK, Reopened.NOT_DELETED]

    bank = models.ForeignKey(Bank, models.PROTECT, related_name="entries", db_index=False)  # in the unique constraint
    document_id = models.TextField()
    document_hash = models.CharField(
        max_length=64, help_text="of the id; while it is no document, a key that no document has"
    )
    item = models.OneToOneField(
        RetainItem, models.PROTECT, null=True, related_name="entry", help_text="what was held; null = a document"
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.PENDING)
    version = models.PositiveIntegerField(default=1, help_text="goes up with each change a decision must have seen")

    # Where it came from: claimed by the writer
    project = models.CharField(max_length=1000, blank=True, default="")
    reason = models.CharField(max_length=200, blank=True, default="")
    language = models.CharField(max_length=35, blank=True, default="")
    session = models.CharField(max_length=300, blank=True, default="")
    sources = models.JSONField(default=list, help_text="names of the sources that reported it")

    reopened_because = models.CharField(max_length=12, choices=Reopened.choices, blank=True, default="")
    live_until = models.DateTimeField(
        null=True, help_text="an agent was seen replacing it again and again: it may do so until then"
    )
    text_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        null=True,
        related_name="+",
        help_text="whose edit the text is; null = an agent's. Who writes may be barred from approving",
    )
    vouched_version = models.PositiveIntegerField(
        null=True, help_text="the version that the first of two people has approved; counts while it is the version"
    )

    # Age
    enqueued_at = models.DateTimeField(null=True, help_text="as the source said; null = undatable")
    first_imported_at = models.DateTimeField(default=timezone.now)
    age_from = models.DateTimeField(
        null=True, help_text="the latest of enqueued, reopened, undone, edited; null = undatable"
    )
    expires_at = models.DateTimeField(null=True, help_text="null = waits for a person")

    # What the bank holds
    load_state = models.CharField(max_length=12, choices=Load.choices, default=Load.LOADING)
    load_error = models.CharField(max_length=500, blank=True, default="")
    load_attempts = models.PositiveIntegerField(default=0)
    load_after = models.DateTimeField(
        null=True, default=timezone.now, help_text="when to load (again); null = not wanted"
    )
    load_claimed_until = models.DateTimeField(null=True)
    loaded_at = models.DateTimeField(null=True)
    text = models.ForeignKey(Blob, models.PROTECT, null=True, related_name="+")
    text_size = models.PositiveIntegerField(default=0, help_text="bytes of the text, so that nobody reads it for that")
    content_hash = models.CharField(max_length=64, blank=True, default="", help_text="the server's hash of the text")
    document_created_at = models.DateTimeField(null=True)
    document_updated_at = models.DateTimeField(null=True)
    retain_params = models.JSONField(default=dict, help_text="as the server keeps them; replayed by an edit")
    tags = models.JSONField(default=list)
    facts = models.ForeignKey(Blob, models.PROTECT, null=True, related_name="+", help_text="JSON list, as last loaded")
    fact_count = models.PositiveIntegerField(null=True)
    retired_count = models.PositiveIntegerField(null=True)
    preview = models.CharField(max_length=300, blank=True, default="", help_text="the beginning of the text, for lists")
    marks = models.JSONField(default=list, help_text="[{what, tone, count, note}] from screening")
    danger = models.BooleanField(default=False, help_text="a danger mark: never approved by time")
    risk = models.PositiveSmallIntegerField(default=0, db_default=0, help_text="of its marks: 0 = none, higher = worse")

    screened = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="version of the rules that all of its text went through; 0 = not yet"
    )

    # Who has it open: shown to others, blocks nobody
    lease_user = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    lease_until = models.DateTimeField(null=True)

    # The latest decision, cached (Decision is the record)
    decided_by = models.CharField(max_length=150, blank=True, default="")
    decided_via = models.CharField(max_length=12, blank=True, default="")
    decided_at = models.DateTimeField(null=True)
    created = models.DateTimeField(default=timezone.now)

    objects = EntryQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "review entries"
        ordering: ClassVar = ["enqueued_at", "id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["bank", "document_hash"], name="entry_bank_document_unique"),
        ]
        indexes: ClassVar = [
            # The lists, of all banks and of some (memadmin.paging): ranges in their order, whatever their length.
            models.Index(fields=["state", "enqueued_at", "id"], name="entry_queue"),
            models.Index(fields=["state", "bank", "enqueued_at", "id"], name="entry_queue_bank"),
            models.Index(fields=["state", "expires_at", "id"], name="entry_due"),
            models.Index(fields=["state", "bank", "expires_at", "id"], name="entry_due_bank"),
            models.Index(fields=["state", "-risk", "id"], name="entry_risk"),  # the worst first, of them the oldest
            models.Index(fields=["state", "bank", "-risk", "id"], name="entry_risk_bank"),
            models.Index(
                fields=["state", "decided_at", "id", "decided_via"],
                name="entry_decided",
                condition=Q(decided_at__isnull=False),
            ),
            models.Index(
                fields=["state", "bank", "decided_at", "id", "decided_via"],
                name="entry_decided_bank",
                condition=Q(decided_at__isnull=False),
            ),
            models.Index(fields=["state", "bank", "expires_at", "id"], name="entry_flagged", condition=FLAGGED),
            models.Index(fields=["state", "bank", "expires_at", "id"], name="entry_broken", condition=BROKEN),
            models.Index(fields=["state", "bank", "expires_at", "id"], name="entry_reopened", condition=REOPENED),
            models.Index(fields=["state", "bank", "expires_at", "id"], name="entry_no_facts", condition=NO_FACTS),
            # What waits, by what many share; lists read a range for each bank.
            models.Index(fields=["bank", "id"], name="entry_by_bank", condition=Q(state="pending")),
            models.Index(fields=["bank", "project", "id"], name="entry_by_project", condition=Q(state="pending")),
            models.Index(fields=["bank", "session", "id"], name="entry_by_session", condition=Q(state="pending")),
            models.Index(fields=["id"], name="entry_unscreened", condition=UNSCREENED),
            models.Index(fields=["load_after"], name="entry_load_due", condition=Q(load_after__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.document_id} in {self.bank}"

    @property
    def live(self) -> bool:
        """An agent is expected to replace it any moment."""
        return self.live_until is not None and self.live_until > timezone.now()

    @property
    def waits(self) -> bool:
        """For a decision."""
        return self.state in self.WAITING

    @property
    def vouched(self) -> bool:
        """One person has approved it as it is, and another one has to."""
        return self.waits and self.vouched_version == self.version

    @property
    def held(self) -> bool:
        return self.state == self.State.HELD

    @property
    def loaded(self) -> bool:
        return self.load_state == self.Load.LOADED

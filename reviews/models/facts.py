from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Case, Q, Value, When
from django.utils import timezone

from banks.models import Bank, Blob, Write


class FactDecision(models.Model):
    """What people decided about a fact, so that it can be found again after the document was extracted anew.

    A fact's id does not survive a re-extraction. Its identity here is the document, the text *as extracted* and which
    of several facts with that text it is.
    """

    class Verdict(models.TextChoices):
        RETIRED = "retired", "retired"
        EDITED = "edited", "edited"
        RESTORED = "restored", "restored"

    class Shelf(models.TextChoices):
        """Where the archive lists it. What was only edited was never retired, and is in none of its lists."""

        RETIRED = "retired", "retired"
        AGAIN = "again", "retired again"
        RESTORED = "restored", "restored"
        GONE = "gone", "gone"
        EDITED = "edited", "edited"

    class Origin(models.TextChoices):
        OURS = "ours", "decided here"
        OBSERVED = "observed", "seen on the server"

    # What must stand again when the document was extracted anew; what a person took back must not.
    STANDING: ClassVar = [Verdict.RETIRED, Verdict.EDITED]

    bank = models.ForeignKey(Bank, models.PROTECT, related_name="fact_decisions", db_index=False)  # see constraints
    document_id = models.TextField(blank=True, default="", help_text="empty: the server did not say")
    document_hash = models.CharField(max_length=64, blank=True, default="")
    fact_id = models.CharField(max_length=64, help_text="its current id on the server")
    fact_type = models.CharField(max_length=20, blank=True, default="")
    extracted = models.ForeignKey(Blob, models.PROTECT, related_name="+", help_text="the text as extracted")
    occurrence = models.PositiveIntegerField(
        default=0, help_text="which of the document's facts with that text, from 0"
    )
    current = models.ForeignKey(
        Blob, models.PROTECT, null=True, related_name="+", help_text="the text a person gave it; null = as extracted"
    )
    preview = models.CharField(
        max_length=300, blank=True, default="", help_text="the beginning of the text as it is now, for lists and search"
    )
    verdict = models.CharField(max_length=10, choices=Verdict.choices)
    reason = models.TextField(blank=True, default="")
    origin = models.CharField(max_length=10, choices=Origin.choices, default=Origin.OURS)
    via = models.CharField(max_length=12, choices=Write.Via.choices, blank=True, default="", help_text="of the verdict")
    again = models.PositiveIntegerField(default=0, help_text="how often it was applied again after an extraction")
    restored_at = models.DateTimeField(null=True, help_text="when it came back; null = it is retired, or never was")
    gone_since = models.DateTimeField(
        null=True, help_text="when its fact was first not in the bank: a new extraction, or no document any more"
    )
    beside = models.JSONField(
        null=True, help_text="ids of valid facts of its chunk as last seen; by them the chunk is known again"
    )
    shelf = models.GeneratedField(
        expression=Case(
            When(verdict__in=["retired", "restored"], gone_since__isnull=False, then=Value("gone")),
            When(verdict="retired", again__gt=0, then=Value("again")),
            When(verdict="retired", then=Value("retired")),
            When(restored_at__isnull=False, then=Value("restored")),
            default=Value("edited"),
        ),
        output_field=models.CharField(max_length=10, choices=Shelf.choices),
        db_persist=True,
    )
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, null=True, related_name="+")
    user_name = models.CharField(max_length=150, blank=True, default="", help_text="as it was then")
    write = models.ForeignKey(
        Write, models.PROTECT, null=True, related_name="+", help_text="the latest that changed it"
    )
    at = models.DateTimeField(default=timezone.now, help_text="of the verdict")
    created = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["-at", "-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["bank", "document_hash", "extracted", "occurrence"], name="fact_decision_identity"
            ),
            models.UniqueConstraint(fields=["bank", "fact_id"], name="fact_decision_fact"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["shelf", "-at", "-id"], name="fact_shelf_newest"),
            models.Index(fields=["shelf", "bank", "-at", "-id"], name="fact_shelf_bank"),
            models.Index(fields=["shelf", "user", "-at", "-id"], name="fact_shelf_user"),
        ]

    def __str__(self) -> str:
        return f"{self.verdict}: fact {self.fact_id}"

    @staticmethod
    def preview_of(text: str) -> str:
        return " ".join(text[:1_200].replace("\x00", " ").split())[:300]  # PostgreSQL has no NUL

    @property
    def shelf_label(self) -> str:
        return str(self.Shelf(self.shelf).label)

    @property
    def text_id(self) -> str:
        """The hash of the text that the fact should have."""
        return self.current_id or self.extracted_id


class Reapplication(models.Model):
    """One decision, found again at a fact of a newer extraction. At most one row for each pair, so nothing loops."""

    class State(models.TextChoices):
        SENT = "sent", "applied again"
        ASKED = "asked", "waits for a person"
        DONE = "done", "stands again"
        DECLINED = "declined", "a person said no"
        FAILED = "failed", "could not be applied"

    decision = models.ForeignKey(FactDecision, models.CASCADE, related_name="reapplications", db_index=False)
    fact_id = models.CharField(max_length=64, help_text="the fact of the newer extraction")
    replaces = models.CharField(max_length=64, help_text="the id that the decision was about before")
    text = models.ForeignKey(Blob, models.PROTECT, related_name="+", help_text="its text, as extracted")
    exact = models.BooleanField(help_text="the same text, not only a close one")
    score = models.FloatField(default=100.0, help_text="how alike, to 100")
    why = models.CharField(max_length=300, blank=True, default="", help_text="why a person is asked")
    state = models.CharField(max_length=10, choices=State.choices)
    write = models.ForeignKey(Write, models.PROTECT, null=True, related_name="+")
    decided_by = models.CharField(max_length=150, blank=True, default="")
    created = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["decision", "fact_id"], name="reapplication_once"),
        ]
        indexes: ClassVar = [
            models.Index(fields=["-id"], name="reapplication_asked", condition=Q(state="asked")),
            models.Index(fields=["replaces"], name="reapplication_replaces"),
        ]

    def __str__(self) -> str:
        return f"{self.decision} again at {self.fact_id}: {self.state}"

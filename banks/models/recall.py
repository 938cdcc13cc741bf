from typing import ClassVar

from django.db import models
from django.utils import timezone

from banks.models.banks import Bank


class RecallCheck(models.Model):
    """A saved query with the facts that are to come back for it. A worker asks it each night, and when told to."""

    bank = models.ForeignKey(Bank, models.CASCADE, related_name="recall_checks")
    name = models.CharField(max_length=120)
    asked = models.JSONField(help_text="the query, and what narrows it (banks.recall.asked)")
    made_by = models.CharField(max_length=150, help_text="name of the person, as it was")
    created = models.DateTimeField(default=timezone.now)
    answered_at = models.DateTimeField(null=True, help_text="the last answer of the bank")
    lost = models.PositiveSmallIntegerField(default=0, help_text="expected facts that did not come then")
    error = models.CharField(max_length=300, blank=True, default="", help_text="why the bank did not answer since")
    failures = models.PositiveSmallIntegerField(default=0, help_text="tries in a row without an answer")
    run_after = models.DateTimeField(default=timezone.now, help_text="when to ask again")
    claimed_until = models.DateTimeField(null=True, help_text="a worker asks until then")

    class Meta:
        ordering: ClassVar = ["name", "id"]
        indexes: ClassVar = [models.Index(fields=["run_after"], name="recall_check_due")]

    def __str__(self) -> str:
        return self.name


class ExpectedFact(models.Model):
    """A fact that is to come back. Its id changes when its document is extracted anew; then its words find it."""

    class Way(models.TextChoices):
        ITSELF = "itself", "as it was"
        CHANGED = "changed", "with another text"
        DERIVED = "derived", "as an observation made from it"

    recall_check = models.ForeignKey(RecallCheck, models.CASCADE, related_name="expected")
    fact_id = models.TextField()
    text = models.TextField(help_text="its beginning, as it was when it was chosen")
    words_hash = models.CharField(max_length=64, help_text="of all of it, without case and white space")
    document_id = models.TextField(blank=True, default="")
    place = models.PositiveIntegerField(null=True, help_text="among the hits of the last answer; null = not there")
    way = models.CharField(max_length=7, choices=Way.choices, blank=True, default="", help_text="how it came back")
    missing_since = models.DateTimeField(null=True, help_text="the first answer without it")

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["recall_check", "words_hash"], name="expected_fact_once")
        ]

    def __str__(self) -> str:
        return f"expected fact {self.pk} of {self.recall_check_id}"

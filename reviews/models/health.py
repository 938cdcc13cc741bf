from typing import ClassVar

from django.db import models
from django.utils import timezone

from banks.models import Bank, Job


class HealthReport(models.Model):
    """How a bank's facts were in all, as counted once. Without `taken` it is under way, or came to nothing."""

    bank = models.ForeignKey(Bank, models.CASCADE, related_name="health_reports", db_index=False)
    job = models.OneToOneField(Job, models.SET_NULL, null=True, related_name="+", help_text="that counts")
    asked_by = models.CharField(max_length=150, help_text="name of the person, as it was")
    asked = models.DateTimeField(default=timezone.now)
    taken = models.DateTimeField(null=True, help_text="when the server was read")
    numbers = models.JSONField(default=dict)

    class Meta:
        indexes: ClassVar = [models.Index(fields=["bank", "-id"], name="health_of_bank")]

    def __str__(self) -> str:
        return f"health of {self.bank_id} ({self.taken or 'not taken'})"


class HealthFact(models.Model):
    """One of the facts behind a number, as it was then. Only those of a bank's latest report are kept."""

    report = models.ForeignKey(HealthReport, models.CASCADE, related_name="facts", db_index=False)
    finding = models.CharField(max_length=20)
    place = models.PositiveIntegerField()
    fact_id = models.TextField()
    document_id = models.TextField(blank=True, default="")
    text = models.TextField(help_text="its beginning")
    told = models.CharField(max_length=20, blank=True, default="", help_text="its group, or its language")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["report", "finding", "place"], name="health_fact_place")
        ]

    def __str__(self) -> str:
        return f"{self.finding} {self.place} of {self.report_id}"

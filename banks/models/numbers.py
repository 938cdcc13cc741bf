from typing import ClassVar

from django.db import models
from django.utils import timezone

from banks.models.banks import Bank
from banks.models.servers import Server


class BankNumbers(models.Model):
    """What a bank's server counts in it, as last read, and when that is done again.

    How many documents, facts and retired facts there are, and when they were read, stands with the bank itself.
    """

    bank = models.OneToOneField(Bank, models.CASCADE, primary_key=True, related_name="numbers")
    facts_by_type = models.JSONField(default=dict)
    backlog = models.PositiveIntegerField(null=True, help_text="facts that are not consolidated; null = not told")
    last_write_at = models.DateTimeField(null=True, help_text="whoever wrote; null = never, or not told")
    days = models.JSONField(null=True, help_text="new facts of each day, in UTC; null = not told")
    days_to = models.DateField(null=True, help_text="the last of these days")
    read_after = models.DateTimeField(default=timezone.now, help_text="when to read it again")
    failures = models.PositiveIntegerField(default=0, help_text="reads in a row that failed")
    error = models.CharField(max_length=300, blank=True, default="", help_text="of the last read")

    class Meta:
        indexes: ClassVar = [models.Index(fields=["read_after"], name="numbers_due")]

    def __str__(self) -> str:
        return f"numbers of {self.bank_id}"


class BankAlias(models.Model):
    """Another id that a server takes for one of its banks. It is never a bank of its own."""

    bank = models.ForeignKey(Bank, models.CASCADE, related_name="aliases")
    server = models.ForeignKey(Server, models.CASCADE, related_name="+", help_text="of the bank: one bank per alias")
    alias = models.TextField()
    alias_hash = models.CharField(max_length=64, help_text="sha256, as of a bank's id")

    class Meta:
        ordering: ClassVar = ["alias"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["server", "alias_hash"], name="alias_server_unique")]

    def __str__(self) -> str:
        return f"{self.alias} of {self.bank_id}"

"""What finds rows of the write log: by the facts they name, and by their words (banks/log_index.py)."""

import hashlib
from typing import ClassVar

from django.db import models

from banks.models.writes import Write


class WriteFact(models.Model):
    """That a row names a fact. By a hash, since foreign ids can be of any length."""

    write = models.ForeignKey(Write, models.CASCADE, related_name="facts_named")
    fact_hash = models.CharField(max_length=64)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["fact_hash", "write"], name="writefact_once")]

    def __str__(self) -> str:
        return f"{self.fact_hash[:12]} in row {self.write_id}"

    @staticmethod
    def hash_of(fact_id: str) -> str:
        return hashlib.sha256(fact_id.encode("utf-8", "surrogatepass")).hexdigest()


class Unindexed(models.Model):
    """A row whose words are not in the full-text index yet, or have changed since."""

    write = models.OneToOneField(Write, models.CASCADE, primary_key=True, related_name="+")

    def __str__(self) -> str:
        return f"row {self.pk}"

"""Files on their way into a bank."""

from typing import ClassVar

from django.db import models
from django.db.models import Q

from banks.models.writes import Write


class RetainFile(models.Model):
    """One file that was accepted; its write says how far it is. Its bytes are in the data folder until that has ended.

    What is said about it (context, tags, …) are the parameters of the write.
    """

    write = models.OneToOneField(Write, models.CASCADE, primary_key=True, related_name="file")
    name = models.CharField(max_length=200, help_text="as the server is told it: no path, nothing hidden")
    size = models.PositiveBigIntegerField(help_text="bytes")
    sha256 = models.CharField(max_length=64, help_text="of the bytes; stays when they are forgotten")
    kept = models.CharField(max_length=60, blank=True, default="", help_text="where they are; empty = forgotten")

    class Meta:
        indexes: ClassVar = [models.Index(fields=["kept"], name="retain_file_kept", condition=~Q(kept=""))]

    def __str__(self) -> str:
        return self.name

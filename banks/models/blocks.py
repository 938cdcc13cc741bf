from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from banks.models.banks import Bank


class FrozenBlock(models.Model):
    """What an agent was given about a person at the beginning of an epoch, for all of it: the same bytes each time.

    Forgotten after a while (banks.blocks.frozen).
    """

    owner = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    bank = models.ForeignKey(Bank, models.CASCADE, related_name="frozen_blocks")
    marker_hash = models.CharField(max_length=64, help_text="sha256 of the marker as it is written on one line")
    epoch_hash = models.CharField(max_length=64, help_text="sha256 of the key that the agent gave its epoch")
    text = models.TextField(blank=True, help_text="empty where there was nothing to say, and `told` says why")
    told = models.JSONField(default=dict, help_text="what is said about the text: of banks.blocks.frozen.Told")
    stale = models.CharField(max_length=200, blank=True, default="", help_text="why it is that of an earlier epoch")
    read_at = models.DateTimeField(help_text="when the bank said this")
    created = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        ordering: ClassVar = ["-id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["owner", "bank", "marker_hash", "epoch_hash"], name="frozen_block_once_an_epoch"
            )
        ]

    def __str__(self) -> str:
        return f"block {self.pk} of bank {self.bank_id}"

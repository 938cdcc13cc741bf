"""The retain queue: memories on their way into a bank."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils import timezone

from banks.models.banks import Bank
from banks.models.blobs import Blob
from banks.models.tokens import ApiToken
from banks.models.writes import Write


class RetainItem(models.Model):
    """One memory that was accepted, with everything its retain takes. It is sent by a Write, with others.

    What is sent never changes once it was taken into the queue: a request may be repeated word for word. Before, while
    it is held for review, a person may word it anew.
    """

    class State(models.TextChoices):
        HELD = "held", "held for review"
        QUEUED = "queued", "waiting"
        SENT = "sent", "on its way"  # how far, its write says
        DONE = "done", "in the bank"
        ATTENTION = "attention", "needs a person"
        DISCARDED = "discarded", "discarded"

    class Mode(models.TextChoices):
        REPLACE = "replace", "replace"
        APPEND = "append", "append"

    bank = models.ForeignKey(Bank, models.PROTECT, related_name="retain_items", db_index=False)  # see the indexes
    write = models.ForeignKey(Write, models.PROTECT, null=True, related_name="items", help_text="the latest with it")
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+", db_index=False)
    actor_name = models.CharField(max_length=150, blank=True, default="", help_text="as it was then")
    token = models.ForeignKey(
        ApiToken, models.PROTECT, null=True, related_name="+", db_index=False, help_text="what it came by"
    )
    via = models.CharField(max_length=12, choices=Write.Via.choices)

    content = models.ForeignKey(Blob, models.PROTECT, related_name="+")
    size = models.PositiveIntegerField(help_text="bytes of the content")
    document_id = models.TextField()
    document_hash = models.CharField(max_length=64)
    named = models.BooleanField(help_text="who sent it gave the document id; else we made one that nobody else uses")
    update_mode = models.CharField(max_length=7, choices=Mode.choices, default=Mode.REPLACE)
    timestamp = models.CharField(max_length=64, help_text="ISO 8601, or unset")
    context = models.TextField(null=True, help_text="null = none is sent")
    metadata = models.JSONField(default=dict, help_text="{name: text}, the session in it")
    entities = models.JSONField(null=True, help_text="[{text, type}]")
    resolve_entities = models.BooleanField(null=True)
    tags = models.JSONField(default=list, help_text="those of its scope among them")
    document_tags = models.JSONField(default=list, help_text="of the whole request: the older way to say tags")
    observation_scopes = models.JSONField(null=True, help_text="a word, or a list of lists of tags")
    strategy = models.CharField(max_length=200, blank=True, default="")
    project = models.CharField(max_length=1000, blank=True, default="", help_text="as the writer calls it")
    user_bank = models.BooleanField(default=False, help_text="a person's bank was meant; nothing else is sent to one")

    # Who retains under an operation id of their own may repeat the request: it is one, and never another
    operation_id = models.UUIDField(null=True, help_text="given by who sent it: these items are a request of their own")
    position = models.PositiveSmallIntegerField(default=0, help_text="in that request")
    fingerprint = models.CharField(max_length=64, blank=True, default="", help_text="sha256 of that request")

    state = models.CharField(max_length=10, choices=State.choices, default=State.QUEUED)
    held = models.BooleanField(default=False, help_text="it was held for review first, as its bank's policy said then")
    alone = models.BooleanField(
        default=False, help_text="the server refused it in company, or it was held: it is sent by itself"
    )
    queued_at = models.DateTimeField(default=timezone.now)
    not_before = models.DateTimeField(default=timezone.now, help_text="waits for company until then")
    seen_at = models.DateTimeField(null=True, help_text="when the bank was seen to have it")
    fact_count = models.PositiveIntegerField(null=True, help_text="of its document, as seen then")
    error = models.CharField(max_length=500, blank=True, default="")

    class Meta:
        ordering: ClassVar = ["id"]
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["operation_id", "position"],
                name="retain_operation_once",
                condition=Q(operation_id__isnull=False),
            ),
        ]
        indexes: ClassVar = [
            models.Index(fields=["bank", "id"], name="retain_waiting", condition=Q(state="queued")),
            models.Index(fields=["document_hash", "bank", "id"], name="retain_document"),
            models.Index(fields=["state", "bank", "-queued_at", "-id"], name="retain_newest"),
        ]

    def __str__(self) -> str:
        return f"{self.document_id} ({self.get_state_display()})"


class RetainLabel(models.Model):
    """That a project was seen under this label in a bank: two projects with one label share its tag or its bank."""

    bank = models.ForeignKey(Bank, models.CASCADE, related_name="+", db_index=False)
    label = models.CharField(max_length=300)
    project = models.CharField(max_length=1000)
    project_hash = models.CharField(max_length=64)
    created = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["bank", "label", "project_hash"], name="retain_label_project"),
        ]

    def __str__(self) -> str:
        return f"{self.label}: {self.project}"

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from banks.models.banks import Bank
from banks.models.groups import Group
from banks.models.servers import Server


class AdminEvent(models.Model):
    """Who changed what about servers, members, people and banks' policies, and when. Rows are only ever added.

    Names are kept as they were, so that a row still speaks when what it is about is gone. Never holds a key.
    """

    class What(models.TextChoices):
        SERVER_ADDED = "server-added", "Server added"
        SERVER_CHANGED = "server-changed", "Server changed"
        SERVER_REMOVED = "server-removed", "Server removed"
        KEY_REPLACED = "key-replaced", "Key replaced"
        KEY_REMOVED = "key-removed", "Key removed"
        WRITES_PAUSED = "writes-paused", "Writes paused"
        WRITES_RESUMED = "writes-resumed", "Writes resumed"
        MEMBER_ADDED = "member-added", "Member added"
        ROLE_CHANGED = "role-changed", "Role changed"
        MEMBER_REMOVED = "member-removed", "Member removed"
        INVITED = "invited", "Invited"
        INVITED_AGAIN = "invited-again", "New invitation link"
        CLOSED = "closed", "Account closed"
        REOPENED = "reopened", "Account opened again"
        POLICY_CHANGED = "policy-changed", "Policy changed"
        PERSON_NAMED = "person-named", "Made a person's bank"
        PERSON_CLEARED = "person-cleared", "Made a project's bank"
        TOKEN_MADE = "token-made", "API token made"
        TOKEN_REVOKED = "token-revoked", "API token revoked"
        GROUP_MADE = "group-made", "Group made"
        GROUP_RENAMED = "group-renamed", "Group renamed"
        GROUP_REMOVED = "group-removed", "Group removed"
        GROUP_JOINED = "group-joined", "Put into a group"
        GROUP_LEFT = "group-left", "Taken out of a group"
        GROUP_ROLE_GIVEN = "group-role-given", "Group given a role"
        GROUP_ROLE_CHANGED = "group-role-changed", "Role of a group changed"
        GROUP_ROLE_TAKEN = "group-role-taken", "Role of a group taken away"
        OPERATOR_MADE = "operator-made", "Made an operator"
        OPERATOR_ENDED = "operator-ended", "No operator any more"
        UNLOCKED = "unlocked", "Sign-in unlocked"
        FACTOR_ADDED = "factor-added", "Second factor set up"
        FACTOR_REMOVED = "factor-removed", "Second factor removed"
        FACTOR_RESET = "factor-reset", "Second factor reset"
        CODES_MADE = "codes-made", "New recovery codes"
        IDENTITY_JOINED = "identity-joined", "Company sign-in joined"
        IDENTITY_ENDED = "identity-ended", "Company sign-in ended"
        OUTGOING_ADDED = "outgoing-added", "Notification address added"
        OUTGOING_REMOVED = "outgoing-removed", "Notification address removed"
        AGENT_FILE = "agent-file", "Agent's configuration saved"
        SEED_ADDED = "seed-added", "Seed added"
        SEED_CHANGED = "seed-changed", "Seed changed"
        SEED_REMOVED = "seed-removed", "Seed removed"

    what = models.CharField(max_length=20, choices=What.choices)
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+")
    actor_name = models.CharField(max_length=310, blank=True, default="", help_text="as it was then; empty = no person")
    # A bank's event names its server too.
    server = models.ForeignKey(Server, models.SET_NULL, null=True, related_name="+", db_index=False)
    server_name = models.CharField(max_length=100, blank=True, default="")
    bank = models.ForeignKey(Bank, models.SET_NULL, null=True, related_name="+", db_index=False)
    bank_name = models.TextField(blank=True, default="")
    person = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, null=True, related_name="+", db_index=False)
    person_name = models.CharField(max_length=310, blank=True, default="")
    group = models.ForeignKey(Group, models.SET_NULL, null=True, related_name="+", db_index=False)
    group_name = models.CharField(max_length=100, blank=True, default="")
    before = models.JSONField(default=dict, help_text="{field: value} of what changed")
    after = models.JSONField(default=dict)
    reason = models.CharField(max_length=300, blank=True, default="")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["-at", "-id"]
        indexes: ClassVar = [
            models.Index(fields=["-at", "-id"], name="admin_event_newest"),
            models.Index(fields=["server", "-at", "-id"], name="admin_event_server"),
            models.Index(fields=["bank", "-at", "-id"], name="admin_event_bank"),
            models.Index(fields=["person", "-at", "-id"], name="admin_event_person"),
            models.Index(fields=["group", "-at", "-id"], name="admin_event_group"),
        ]

    def __str__(self) -> str:
        return f"{self.get_what_display()} by {self.actor_name or 'no person'}"

    @property
    def changes(self) -> list[tuple[str, object, object]]:
        """(field, before, after) of everything that changed, in the order it was stored; None where there was none."""
        names = dict.fromkeys([*self.before, *self.after])
        return [(name, self.before.get(name), self.after.get(name)) for name in names]

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Lower
from django.utils import timezone

from banks.models.banks import Bank, Role
from banks.models.servers import Server


class Group(models.Model):
    """People who get the same roles. Operators say who is in it; a bank's or server's admins what it may there."""

    name = models.CharField(max_length=100)
    created = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["name"]
        constraints: ClassVar = [models.UniqueConstraint(Lower("name"), name="group_name_unique")]

    def __str__(self) -> str:
        return self.name


class GroupMember(models.Model):
    group = models.ForeignKey(Group, models.CASCADE, related_name="members", db_index=False)  # see constraints
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="group_members")
    created = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["group", "user"], name="group_member_once")]

    def __str__(self) -> str:
        return f"{self.user} in {self.group}"


class GroupRole(models.Model):
    """The role of everybody in a group on one bank, or on every bank of a server."""

    group = models.ForeignKey(Group, models.CASCADE, related_name="roles")
    bank = models.ForeignKey(Bank, models.CASCADE, null=True, blank=True, related_name="group_roles")
    server = models.ForeignKey(Server, models.CASCADE, null=True, blank=True, related_name="group_roles")
    role = models.PositiveSmallIntegerField(choices=Role, default=Role.VIEWER)
    created = models.DateTimeField(default=timezone.now)

    class Meta:
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(bank__isnull=True, server__isnull=False) | Q(bank__isnull=False, server__isnull=True),
                name="group_role_bank_or_server",
            ),
            models.UniqueConstraint(fields=["group", "bank"], name="group_role_bank", condition=Q(bank__isnull=False)),
            models.UniqueConstraint(
                fields=["group", "server"], name="group_role_server", condition=Q(server__isnull=False)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.group}: {self.get_role_display()} of {self.bank or self.server}"

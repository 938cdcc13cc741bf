"""Who may do what on which bank. Fetching proves the right: a view cannot get a bank without saying what for.

Strangers get 404 (they must not learn that the bank exists), readers who may not write get 403.
"""

from typing import Any

from django.core.exceptions import PermissionDenied
from django.db.models import Max, Q, QuerySet
from django.http import Http404

from banks.models import Bank, Membership, Role, Server
from memadmin.accounts.models import User


class NotEnough(PermissionDenied):
    """The person may see this bank, but the act needs a higher role."""

    def __init__(self, bank: Bank, has: Role, needs: Role) -> None:
        super().__init__(f"Your role is {has.label}; this needs {needs.label}.")
        self.bank, self.has, self.needs = bank, has, needs


def banks_for(user: Any, role: Role = Role.VIEWER) -> QuerySet[Bank]:
    """The banks on which this person has at least this role."""
    if not isinstance(user, User) or not user.is_active:
        return Bank.objects.none()
    if user.is_superuser:
        return Bank.objects.all()
    held = Membership.objects.filter(user=user, role__gte=role)
    return Bank.objects.filter(
        Q(pk__in=held.filter(bank__isnull=False).values("bank"))
        | Q(server__in=held.filter(server__isnull=False).values("server"))
    )


def role_on(user: Any, bank: Bank) -> Role | None:
    """The person's highest role on this bank, None for strangers."""
    if not isinstance(user, User) or not user.is_active:
        return None
    if user.is_superuser:
        return Role.ADMIN
    highest = Membership.objects.filter(Q(bank=bank) | Q(server=bank.server_id), user=user).aggregate(role=Max("role"))[
        "role"
    ]
    return None if highest is None else Role(highest)


def require(user: Any, bank: Bank, role: Role) -> None:
    """Raises Http404 for strangers and NotEnough (403) for those who may only see it."""
    has = role_on(user, bank)
    if has is None:
        raise Http404("No such bank.")
    if has < role:
        raise NotEnough(bank, has, role)


def get_bank(user: Any, pk: int, role: Role = Role.VIEWER) -> Bank:
    """The bank, when this person has at least this role on it."""
    try:
        bank = Bank.objects.select_related("server").get(pk=pk)
    except Bank.DoesNotExist as error:
        raise Http404("No such bank.") from error
    require(user, bank, role)
    return bank


def servers_for(user: Any, role: Role = Role.ADMIN) -> QuerySet[Server]:
    """The servers on which this person has at least this role for the whole server."""
    if not isinstance(user, User) or not user.is_active:
        return Server.objects.none()
    if user.is_superuser:
        return Server.objects.all()
    return Server.objects.filter(memberships__user=user, memberships__role__gte=role).distinct()

"""What is read for the pages about groups."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, OuterRef, Prefetch, Subquery, Value
from django.db.models.functions import Coalesce
from django.http import Http404

from banks import access
from banks.models import Bank, Group, GroupMember, GroupRole, Server
from memadmin.accounts.models import User

PER_PAGE = 50
NAMES_SHOWN = 8


@dataclass(frozen=True)
class GroupPage:
    """Groups by name, each with `people` and `places`, how many. `after`: where the next page starts, or ""."""

    rows: Sequence[Group]
    after: str


@dataclass(frozen=True)
class MemberPage:
    """Who is in a group, in the order they came. `after`: where the next page starts, 0 when there is none."""

    rows: Sequence[GroupMember]
    after: int


def group_page(*, after: str = "") -> GroupPage:
    found = list(_counted().filter(name__gt=after).order_by("name")[: PER_PAGE + 1])
    more, found = len(found) > PER_PAGE, found[:PER_PAGE]
    return GroupPage(found, found[-1].name if more else "")


def get_group(user: Any, pk: int) -> Group:
    """Any, for an operator; none for others."""
    access.require_reach(user, "operator")
    found = Group.objects.filter(pk=pk).first()
    if found is None:
        raise Http404("No such group.")
    return found


def get_member(user: Any, pk: int) -> GroupMember:
    access.require_reach(user, "operator")
    found = GroupMember.objects.select_related("group", "user").filter(pk=pk).first()
    if found is None:
        raise Http404("Nobody is in a group by this.")
    return found


def get_role(user: Any, pk: int) -> GroupRole:
    """The group's role, when this person is admin of what it is about: 404 for strangers, 403 for other members."""
    found = GroupRole.objects.select_related("group", "bank__server", "server").filter(pk=pk).first()
    if found is None:
        raise Http404("No such role.")
    access.require_admin_of(user, found)
    return found


def members_of(group: Group, *, after: int = 0) -> MemberPage:
    found = list(group.members.select_related("user").filter(pk__gt=after).order_by("pk")[: PER_PAGE + 1])
    more, found = len(found) > PER_PAGE, found[:PER_PAGE]
    return MemberPage(found, found[-1].pk if more else 0)


def roles_of(group: Group) -> list[GroupRole]:
    """One more than a page tells of more."""
    return list(group.roles.select_related("bank__server", "server").order_by("-role", "pk")[: PER_PAGE + 1])


def roles_here(on: Bank | Server) -> list[GroupRole]:
    """Of groups on exactly this, each with its first `names`. Two queries; one row more than a page tells of more."""
    roles = list(on.group_roles.select_related("group").order_by("group__name")[: PER_PAGE + 1])
    first = GroupMember.objects.filter(group=OuterRef("group")).order_by("pk").values("pk")[: NAMES_SHOWN + 1]
    shown = GroupMember.objects.filter(group__in={held.group_id for held in roles}, pk__in=Subquery(first))
    names: dict[int, list[User]] = {}
    for member in shown.select_related("user").order_by("pk"):
        names.setdefault(member.group_id, []).append(member.user)
    for held in roles:
        held.names = names.get(held.group_id, [])  # type: ignore[attr-defined]  # for the page
    return roles


def roles_of_server_of(bank: Bank) -> list[GroupRole]:
    """Of groups on the whole server: they count for this bank too."""
    held = GroupRole.objects.filter(server=bank.server_id).select_related("group")
    return list(held.order_by("-role", "group__name")[: PER_PAGE + 1])


def groups_with_roles(person: User) -> list[Group]:
    """The groups this person is in, each with `some_roles`, one more than a page tells of more. Two queries."""
    roles = GroupRole.objects.select_related("bank__server", "server").order_by("-role", "pk")[: PER_PAGE + 1]
    found = Group.objects.filter(members__user=person).order_by("name")[: PER_PAGE + 1]
    return list(found.prefetch_related(Prefetch("roles", roles, to_attr="some_roles")))


def _counted() -> Any:
    def number(model: type[GroupMember] | type[GroupRole]) -> Coalesce:
        rows = model._default_manager.filter(group=OuterRef("pk")).order_by().values("group")
        return Coalesce(Subquery(rows.annotate(n=Count("pk")).values("n")), Value(0))

    return Group.objects.annotate(people=number(GroupMember), places=number(GroupRole))

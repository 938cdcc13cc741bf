"""What is read for the pages about people: who has which role where, and who changed what."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Prefetch, Q, QuerySet
from django.http import Http404

from banks import access
from banks.models import AdminEvent, Bank, Group, GroupMember, GroupRole, Membership, Role, Server
from memadmin.accounts.models import LoginLink, User
from memadmin.paging import Cursor, Order, Page, page_of

PER_PAGE = 50
ROLES_SHOWN = 8  # per person; the person's own page has all
INHERITED_SHOWN = 50
EVENTS_SHOWN = 20
NEWEST = Order("at", descending=True)


@dataclass(frozen=True)
class MemberPage:
    """Members by user name. `after` is where the next page starts, "" when there is none."""

    rows: list[Membership]
    after: str


@dataclass(frozen=True)
class PersonPage:
    """People by user name, each with `roles` of their own and `groups`."""

    rows: Sequence[User]
    after: str


def members_of(on: Bank | Server, *, after: str = "") -> MemberPage:
    """Who has a role on exactly this."""
    found = on.memberships.select_related("user").order_by("user__username").filter(user__username__gt=after)
    rows = list(found[: PER_PAGE + 1])
    more, rows = len(rows) > PER_PAGE, rows[:PER_PAGE]
    return MemberPage(rows, rows[-1].user.username if more else "")


def members_of_server_of(bank: Bank) -> list[Membership]:
    """Whose role on the whole server counts for this bank too; the highest roles first. One more tells of more."""
    held = Membership.objects.filter(server=bank.server_id).select_related("user")
    return list(held.order_by("-role", "user__username")[: INHERITED_SHOWN + 1])


def operators() -> list[User]:
    return list(User.objects.filter(is_superuser=True, is_active=True).order_by("username")[: INHERITED_SHOWN + 1])


def get_membership(user: Any, pk: int) -> Membership:
    """The membership, when this person is admin of what it is about: 404 for strangers, 403 for other members."""
    found = Membership.objects.select_related("user", "bank__server", "server").filter(pk=pk).first()
    if found is None:
        raise Http404("No such role.")
    access.require_admin_of(user, found)
    return found


def memberships_seen_by(user: Any) -> QuerySet[Membership]:
    """Roles on what this person is admin of."""
    if user.is_superuser:
        return Membership.objects.all()
    servers, banks = access.servers_for(user), access.banks_for(user, Role.ADMIN)
    return Membership.objects.filter(Q(server__in=servers.values("pk")) | Q(bank__in=banks.values("pk")))


def groups_seen_by(user: Any) -> QuerySet[Group]:
    """Groups that have a role on what this person is admin of."""
    if user.is_superuser:
        return Group.objects.all()
    servers, banks = access.servers_for(user), access.banks_for(user, Role.ADMIN)
    held = GroupRole.objects.filter(Q(server__in=servers.values("pk")) | Q(bank__in=banks.values("pk")))
    return Group.objects.filter(pk__in=held.values("group"))


def person_page(user: Any, *, q: str = "", after: str = "") -> PersonPage:
    """Everybody for an operator; for an admin those with a role on what they administer, and only those roles."""
    seen, groups = memberships_seen_by(user), groups_seen_by(user)
    people = User.objects.all()
    if not user.is_superuser:
        in_groups = GroupMember.objects.filter(group__in=groups.values("pk"))
        people = people.filter(Q(pk__in=seen.values("user")) | Q(pk__in=in_groups.values("user")))
    if q:
        named = Q(username__icontains=q) | Q(first_name__icontains=q) | Q(last_name__icontains=q)
        people = people.filter(named | Q(email__icontains=q))
    # One role more than is shown tells that there are more.
    roles = seen.select_related("bank__server", "server").order_by("-role", "pk")[: ROLES_SHOWN + 1]
    found = people.filter(username__gt=after).order_by("username")[: PER_PAGE + 1]
    joined = GroupMember.objects.filter(group__in=groups.values("pk")).select_related("group").order_by("group__name")
    rows = list(
        found.prefetch_related(
            Prefetch("memberships", roles, to_attr="roles"),
            Prefetch("group_members", joined[: ROLES_SHOWN + 1], to_attr="joined"),
        )
    )
    more, rows = len(rows) > PER_PAGE, rows[:PER_PAGE]
    return PersonPage(rows, rows[-1].username if more else "")


def get_person(user: Any, pk: int) -> User:
    """Anybody, for an operator; nobody for others."""
    access.require_reach(user, "operator")
    found = User.objects.filter(pk=pk).first()
    if found is None:
        raise Http404("No such person.")
    return found


def roles_of(person: User, *, after: int = 0) -> list[Membership]:
    held = person.memberships.select_related("bank__server", "server").filter(pk__gt=after).order_by("pk")
    return list(held[: PER_PAGE + 1])


def open_invitation(person: User) -> LoginLink | None:
    return LoginLink.objects.filter(user=person, invitation=True, spent__isnull=True).order_by("-pk").first()


def events_seen_by(user: Any) -> QuerySet[AdminEvent]:
    """Everything for an operator, else what is about servers and banks that this person administers, and who came
    into and left the groups that have a role there."""
    if user.is_superuser:
        return AdminEvent.objects.all()
    servers, banks = access.servers_for(user), access.banks_for(user, Role.ADMIN)
    here = Q(server__in=servers.values("pk")) | Q(bank__in=banks.values("pk"))
    return AdminEvent.objects.filter(here | Q(group__in=groups_seen_by(user).values("pk"), server=None, bank=None))


def events_of(on: Bank | Server) -> QuerySet[AdminEvent]:
    """What is about this bank, or about this server itself, and about the groups that have a role there."""
    here = Q(bank=on) if isinstance(on, Bank) else Q(server=on, bank=None)
    groups = GroupRole.objects.filter(bank=on) if isinstance(on, Bank) else GroupRole.objects.filter(server=on)
    return AdminEvent.objects.filter(here | Q(group__in=groups.values("group"), server=None, bank=None))


def events_about(person: User) -> QuerySet[AdminEvent]:
    """What concerns this person: done to their account, their roles, or a group they are in."""
    groups = GroupMember.objects.filter(user=person).values("group")
    return AdminEvent.objects.filter(Q(person=person) | Q(group__in=groups, person=None))


def latest_events(events: QuerySet[AdminEvent]) -> list[AdminEvent]:
    return list(events.order_by(*NEWEST.by())[:EVENTS_SHOWN])


def event_page(events: QuerySet[AdminEvent], cursor: Cursor | None) -> Page[AdminEvent]:
    return page_of(events, NEWEST, cursor, PER_PAGE)

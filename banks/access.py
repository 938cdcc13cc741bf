"""Who may do what on which bank. Fetching proves the right: a view cannot get a bank without saying what for.

Strangers get 404 (they must not learn that the bank exists), readers who may not write get 403. Where a program acts
by a token, the person of the request carries it (`user.token`), and no right is more than the token leaves of it.

A person's bank is seen by that person, who is its reviewer without any membership, and by its admins. Other roles on
it, or on its server, do not count there while it is one (docs/adr/0013).
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from django.core.exceptions import PermissionDenied
from django.db import connection
from django.db.models import Exists, ExpressionWrapper, Q, QuerySet
from django.db.models.expressions import Combinable
from django.db.models.fields import BooleanField
from django.http import Http404

from banks.models import ApiToken, Bank, GroupMember, GroupRole, Membership, Role, Server
from memadmin.accounts.models import User

# Every page and every request asks this. Building it by the ORM takes ten times as long as answering it.
_HELD = """
SELECT held.bank_id, held.server_id, held.role FROM (
    SELECT bank_id, server_id, role FROM banks_membership WHERE user_id = %(user)s
    UNION ALL
    SELECT given.bank_id, given.server_id, given.role FROM banks_grouprole given
    JOIN banks_groupmember member ON member.group_id = given.group_id WHERE member.user_id = %(user)s
) held LEFT JOIN banks_bank bank ON bank.id = held.bank_id
WHERE bank.id IS NULL OR bank.kind <> %(person)s OR held.role >= %(admin)s
UNION ALL
SELECT id, NULL, %(reviewer)s FROM banks_bank WHERE kind = %(person)s AND person_id = %(user)s
"""


class NotEnough(PermissionDenied):
    """The person may see this bank or server, but the act needs a higher role."""

    def __init__(self, on: Bank | Server, has: Role, needs: Role) -> None:
        super().__init__(f"Your role is {has.label}; this needs {needs.label}.")
        self.on, self.has, self.needs = on, has, needs


def banks_for(user: Any, role: Role = Role.VIEWER) -> QuerySet[Bank]:
    """The banks on which this person has at least this role."""
    if not isinstance(user, User) or not user.is_active:
        return Bank.objects.none()
    banks = Bank.objects.all()
    if (token := _token_of(user)) is not None:
        if token.role < role:
            return Bank.objects.none()
        banks = banks if token.bank_ids is None else banks.filter(pk__in=token.bank_ids)
    if user.is_superuser:
        return banks
    administered = _reached(user, Role.ADMIN)
    if role == Role.ADMIN:
        return banks.filter(administered)
    shared = ~Q(kind=Bank.Kind.PERSON) & _reached(user, role)
    return banks.filter(shared | administered | Q(kind=Bank.Kind.PERSON, person=user))


def _reached(user: User, role: Role) -> Q:
    """By a membership, or by a role of a group the person is in."""
    found = Q()
    for held in (Membership.objects.filter(user=user), GroupRole.objects.filter(in_group(user))):
        enough = held.filter(role__gte=role)
        found |= Q(pk__in=enough.filter(bank__isnull=False).values("bank"))
        found |= Q(server__in=enough.filter(server__isnull=False).values("server"))
    return found


def bank_ids_for(user: Any, role: Role = Role.VIEWER) -> list[int] | None:
    """The primary keys of these banks, in order; None = all there are. Asked once for each request's person."""
    if not isinstance(user, User) or not user.is_active:
        return []
    token = _token_of(user)
    if token is not None and token.role < role:
        return []
    only = token.bank_ids if token is not None else None
    if user.is_superuser:
        return None if only is None else sorted(only)
    known: dict[Role, list[int]] = user.__dict__.setdefault("_bank_ids", {})
    if role not in known:
        rows = user.__dict__.get("_held") or _held_by(user)
        banks = {bank for bank, _, has in rows if bank and has >= role}
        servers = [server for _, server, has in rows if server and has >= role]
        if servers:
            administered = [server for _, server, has in rows if server and has == Role.ADMIN]
            seen = ~Q(kind=Bank.Kind.PERSON) & Q(server__in=servers) | Q(server__in=administered)
            banks.update(Bank.objects.filter(seen).order_by().values_list("pk", flat=True))
        known[role] = sorted(banks if only is None else banks & only)
    return known[role]


def role_on(user: Any, bank: Bank) -> Role | None:
    """The person's highest role on this bank, None for strangers."""
    return roles_on(user, [bank]).get(bank.pk)


def roles_on(user: Any, banks: Iterable[Bank]) -> dict[int, Role]:
    """By the bank's primary key: the person's highest role on it. Left out: where there is none. One query."""
    if not isinstance(user, User) or not user.is_active:
        return {}
    token = _token_of(user)
    if token is not None and token.bank_ids is not None:
        banks = [bank for bank in banks if bank.pk in token.bank_ids]
    most = Role(token.role) if token is not None else Role.ADMIN
    if user.is_superuser:
        return {bank.pk: most for bank in banks}
    held, found = _held_by(user), {}
    for bank in banks:
        least = Role.ADMIN if bank.personal else Role.VIEWER
        roles = [role for on, server, role in held if on == bank.pk or (server == bank.server_id and role >= least)]
        if roles:
            found[bank.pk] = Role(min(max(roles), most))
    return found


def _token_of(user: User) -> ApiToken | None:
    token: ApiToken | None = user.token
    return token


def _held_by(user: User) -> list[tuple[int | None, int | None, int]]:
    """(bank, server, role) of each membership that counts, of the person's groups, and of the person's own banks, as
    they are now; the person's object remembers them. One query."""
    with connection.cursor() as cursor:
        cursor.execute(
            _HELD,
            {
                "user": user.pk,
                "person": Bank.Kind.PERSON.value,
                "admin": int(Role.ADMIN),
                "reviewer": int(Role.REVIEWER),
            },
        )
        held: list[tuple[int | None, int | None, int]] = cursor.fetchall()
    user.__dict__["_held"] = held
    return held


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


def require_named(user: Any, pk: str, role: Role) -> None:
    """As `get_bank`, for what a form sent: before anything else of it is read. What is no number names no bank."""
    if pk.isascii() and pk.isdigit() and len(pk) < 18:
        get_bank(user, int(pk), role)


def servers_for(user: Any, role: Role = Role.ADMIN) -> QuerySet[Server]:
    """The servers on which this person has at least this role for the whole server. Never by a token."""
    if not isinstance(user, User) or not user.is_active or user.token is not None:
        return Server.objects.none()
    if user.is_superuser:
        return Server.objects.all()
    return Server.objects.filter(
        Q(pk__in=Membership.objects.filter(user=user, role__gte=role, server__isnull=False).values("server"))
        | Q(pk__in=GroupRole.objects.filter(in_group(user), role__gte=role, server__isnull=False).values("server"))
    )


def role_on_server(user: Any, server: Server) -> Role | None:
    """The person's role on the whole server. Who has a role on one of its banks may know of it: a viewer.

    Never by a token: no endpoint is about servers.
    """
    if not isinstance(user, User) or not user.is_active or user.token is not None:
        return None
    if user.is_superuser:
        return Role.ADMIN
    here = Q(server=server) | Q(bank__server=server)
    held = Membership.objects.filter(here, user=user).values_list("role", "server")
    by_group = GroupRole.objects.filter(here, in_group(user)).values_list("role", "server")
    roles = [role if on_server else Role.VIEWER for role, on_server in held.union(by_group, all=True)]
    if not roles and Bank.objects.filter(server=server, kind=Bank.Kind.PERSON, person=user).exists():
        return Role.VIEWER
    return Role(max(roles)) if roles else None


def get_server(user: Any, pk: int, role: Role = Role.ADMIN) -> Server:
    """The server, when this person has at least this role on the whole of it: 404 for strangers, else 403."""
    server = Server.objects.filter(pk=pk).first()
    has = None if server is None else role_on_server(user, server)
    if server is None or has is None:
        raise Http404("No such server.")
    if has < role:
        raise NotEnough(server, has, role)
    return server


def require_admin_of(user: Any, held: Membership | GroupRole) -> None:
    """That this person is admin of what a person's or a group's role is about: 404 for strangers, else 403."""
    if held.bank is not None:
        require(user, held.bank, Role.ADMIN)
    else:
        assert held.server_id is not None  # a constraint of the table
        get_server(user, held.server_id)


@dataclass(frozen=True)
class Reach:
    """What a person is admin of, for the pages that are about more than one thing. `member`: has any role at all."""

    operator: bool = False
    servers: bool = False
    banks: bool = False
    member: bool = False

    @property
    def team(self) -> bool:
        return self.servers or self.banks


def reach_of(user: Any) -> Reach:
    if not isinstance(user, User) or not user.is_active or user.token is not None:
        return Reach()
    if user.is_superuser:
        return Reach(operator=True, servers=True, banks=True, member=True)
    admin = Q(role=Role.ADMIN)
    of_servers, of_banks = admin & Q(server__isnull=False), admin & Q(bank__isnull=False)
    found = User.objects.filter(pk=user.pk).annotate(
        of_servers=_has(user, of_servers), of_banks=_has(user, of_banks), of_any=_has(user, Q())
    )
    row = found.values_list("of_servers", "of_banks", "of_any").first()
    return Reach(servers=bool(row[0]), banks=bool(row[1]), member=bool(row[2])) if row else Reach()


def _has(user: User, which: Q) -> Combinable:
    """Whether the person has such a role, by themselves or by a group."""
    own, by_group = Membership.objects.filter(which, user=user), GroupRole.objects.filter(which, in_group(user))
    return ExpressionWrapper(Exists(own) | Exists(by_group), output_field=BooleanField())


def in_group(user: Any) -> Q:
    """Roles of groups that this person, or one of these people, is in."""
    return Q(group__members__user=user)


def admins_of(on: Bank | Server) -> Q:
    """Of people with an open account: who is admin here, by a role on it or on its whole server."""
    held = Q(role=Role.ADMIN) & (Q(bank=on) | Q(server=on.server_id) if isinstance(on, Bank) else Q(server=on))
    return Q(is_active=True) & holders(held)


def holders(which: Q) -> Q:
    """Of people: who has such a role, by themselves or by a group."""
    by_group = GroupMember.objects.filter(group__in=GroupRole.objects.filter(which).values("group"))
    return Q(pk__in=Membership.objects.filter(which).values("user")) | Q(pk__in=by_group.values("user"))


def require_reach(user: Any, what: Literal["operator", "servers", "team"]) -> Reach:
    """What the person is admin of, when it is enough: 404 for who has no role at all, else 403."""
    reach = reach_of(user)
    if not getattr(reach, what):
        raise PermissionDenied if reach.member else Http404
    return reach

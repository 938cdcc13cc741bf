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
from django.db.models import BigIntegerField, Count, PositiveSmallIntegerField, Q, QuerySet, Value
from django.http import Http404

from banks.models import ApiToken, Bank, Membership, Role, Server
from memadmin.accounts.models import User


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
    """By a membership alone."""
    held = Membership.objects.filter(user=user, role__gte=role)
    return Q(pk__in=held.filter(bank__isnull=False).values("bank")) | Q(
        server__in=held.filter(server__isnull=False).values("server")
    )


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
    """(bank, server, role) of each membership that counts, and of the person's own banks, as they are now; the person's
    object remembers them. One query."""
    memberships = Membership.objects.filter(user=user).exclude(bank__kind=Bank.Kind.PERSON, role__lt=Role.ADMIN)
    own = Bank.objects.filter(kind=Bank.Kind.PERSON, person=user).order_by()
    nowhere = Value(None, output_field=BigIntegerField(null=True))
    role = Value(int(Role.REVIEWER), output_field=PositiveSmallIntegerField())
    held: list[tuple[int | None, int | None, int]] = list(
        memberships.values_list("bank_id", "server_id", "role").union(own.values_list("pk", nowhere, role), all=True)
    )
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
    return Server.objects.filter(memberships__user=user, memberships__role__gte=role).distinct()


def role_on_server(user: Any, server: Server) -> Role | None:
    """The person's role on the whole server. Who has a role on one of its banks may know of it: a viewer.

    Never by a token: no endpoint is about servers.
    """
    if not isinstance(user, User) or not user.is_active or user.token is not None:
        return None
    if user.is_superuser:
        return Role.ADMIN
    held = Membership.objects.filter(Q(server=server) | Q(bank__server=server), user=user)
    roles = [role if on_server else Role.VIEWER for role, on_server in held.values_list("role", "server")]
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
    held = Membership.objects.filter(user=user).aggregate(
        servers=Count("server", filter=admin), banks=Count("bank", filter=admin), all=Count("pk")
    )
    return Reach(servers=held["servers"] > 0, banks=held["banks"] > 0, member=held["all"] > 0)


def require_reach(user: Any, what: Literal["operator", "servers", "team"]) -> Reach:
    """What the person is admin of, when it is enough: 404 for who has no role at all, else 403."""
    reach = reach_of(user)
    if not getattr(reach, what):
        raise PermissionDenied if reach.member else Http404
    return reach

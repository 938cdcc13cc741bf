"""What endpoints share: who asks, which bank is meant, where the next page starts."""

from collections.abc import Sequence
from datetime import UTC, datetime

from django.http import HttpRequest
from django.utils import timezone

from banks import access, naming
from banks.models import Bank, Role, Server
from memadmin.accounts.models import User
from memadmin.api.errors import Problem, Refused
from memadmin.paging import Cursor

LONGEST_ID = 2_000
SERVERS_NAMED = 20
NO_BANK = "There is no such bank, or this token may not see it."


class Ambiguous(Problem):
    """`servers`: the names of those that have a bank of this id; say one of them."""

    servers: list[str]


def asker(request: HttpRequest) -> User:
    """The person in whose name the token acts; `token` is set."""
    person = request.auth  # type: ignore[attr-defined]  # set by ninja
    assert isinstance(person, User)
    assert person.token is not None
    return person


def bank_named(user: User, bank: str, server: str, role: Role = Role.VIEWER, *, only: Sequence[str] = ()) -> Bank:
    """The one bank of this id that this token may see, when its role is enough. Raises Refused: 404, 403, or 409.

    `only`: what is read of it and its server, where an answer must be quick; each other field costs a query of its own.
    """
    if "\x00" in bank + server:  # no database stores it
        raise Refused(404, NO_BANK)
    found = naming.by_id(Bank.objects.select_related("server"), bank)
    if server:
        found = found.filter(server__name=server)
    if only:
        found = found.only("bank_id", "kind", "server__name", *only)
    meant = list(found.order_by())  # of each server one: a handful
    roles = access.roles_on(user, meant)
    banks = sorted((each for each in meant if each.pk in roles), key=lambda each: each.server.name)
    if not banks:
        raise Refused(404, NO_BANK)
    if len(banks) > 1:
        names = [each.server.name for each in banks[:SERVERS_NAMED]]
        raise Refused(409, "More than one server has a bank of this id: say which, by `server`.", servers=names)
    if (has := roles[banks[0].pk]) < role:
        raise access.NotEnough(banks[0], has, role)
    return banks[0]


def bank_asked(user: User, bank: str, server: str) -> Bank | None:
    """The bank a list is about, where it is about one. Raises Refused as `bank_named`, and for a server alone (422)."""
    if server and not bank:
        raise Refused(422, "`server` needs `bank`.", fields=[])
    return bank_named(user, bank, server) if bank else None


def server_named(user: User, name: str) -> Server:
    """A server of which this token sees a bank. Raises Refused (404)."""
    seen = access.banks_for(user).filter(server__name=name.replace("\x00", "")).select_related("server").first()
    if seen is None:
        raise Refused(404, "There is no such server, or this token sees no bank of it.")
    return seen.server


def cursor_of(text: str) -> Cursor | None:
    """Raises Refused (422) for what is no cursor of ours: a program that goes on from it would begin anew for ever."""
    if not text:
        return None
    cursor = Cursor.parse(text)
    if cursor is None or cursor.backwards:
        raise Refused(422, "`cursor` is not one that was given out here.", fields=[])
    return cursor


def moment(value: datetime) -> datetime:
    """A time without a zone is one of the server's zone. Raises Refused (422) for what is beyond the calendar."""
    try:
        aware = value if timezone.is_aware(value) else timezone.make_aware(value, timezone.get_default_timezone())
        return aware.astimezone(UTC)
    except OverflowError as error:
        raise Refused(422, "No calendar has this time.", fields=[]) from error

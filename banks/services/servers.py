"""What is done to registered servers: add, change, key, pause, resume, remove. Nothing here calls one."""

from collections.abc import Collection, Sequence
from typing import Any

from django.conf import settings
from django.db import IntegrityError, models, transaction

from banks.addresses import Address, BadAddress
from banks.crypto import CannotDecrypt
from banks.models import AdminEvent, Bank, Server
from banks.services import events
from banks.services.refusal import ChangedMeanwhile, Refusal, differences, fingerprint
from memadmin.accounts.models import User

What = AdminEvent.What
CHANGED = "Somebody changed this server meanwhile. Nothing of yours was stored."


def values_of(server: Server) -> dict[str, Any]:
    """What an admin may change afterwards."""
    return {
        "name": server.name,
        "other_urls": list(server.other_urls),
        "connect_timeout": server.connect_timeout,
        "read_timeout": server.read_timeout,
        "seed_new_banks": server.seed_new_banks,
    }


def described(server: Server) -> dict[str, Any]:
    """What is kept about a server that comes, moves or goes."""
    told = {"address": server.base_url, "namespace": server.namespace, "key": _set(server.api_key_encrypted)}
    return {**told, "other_urls": list(server.other_urls)} if server.other_urls else told


def seen(server: Server) -> str:
    return fingerprint(values_of(server))


def add(
    *,
    actor: User,
    name: str,
    address: Address,
    other: Sequence[Address] = (),
    namespace: str = "default",
    api_key: str = "",
    connect_timeout: float = 5.0,
    read_timeout: float = 30.0,
) -> Server:
    """Registers a server. Raises Refusal when its name is taken, or when any of its addresses is another server's.

    Not in the demo: sample memories and real ones never meet in one database.
    """
    if settings.DEMO:
        raise Refusal("This is the demo. Start memadmin with HINDSIGHT_BASE_URL to work with real servers.")
    _check_name(name, None)
    _check_addresses([address, *other], namespace, None)
    server = Server(
        name=name,
        base_url=address.normalised,
        other_urls=[one.normalised for one in other],
        namespace=namespace,
        connect_timeout=connect_timeout,
        read_timeout=read_timeout,
    )
    server.api_key = api_key
    try:
        with transaction.atomic():
            server.save()
            events.record(what=What.SERVER_ADDED, actor=actor, server=server, after=described(server))
    except IntegrityError as error:
        raise Refusal("Somebody has just registered a server with this name or address. Look at the list.") from error
    return server


def change(*, actor: User, server: Server, shown: str, other: Sequence[Address], **values: Any) -> bool:
    """Name, other addresses, timeouts, and what new banks get. False when nothing differs.

    `shown`: what `seen` said of the form's values. Raises ChangedMeanwhile, or Refusal when a name or an address is
    another server's.
    """
    values["other_urls"] = [one.normalised for one in other]
    _check_name(values["name"], server)
    _check_addresses(other, server.namespace, server)
    with transaction.atomic():
        now = Server.objects.get(pk=server.pk)
        if seen(now) != shown:
            raise ChangedMeanwhile(CHANGED)
        before, after = differences(values_of(now), values)
        if not after:
            return False
        try:
            with transaction.atomic():
                changed = Server.objects.filter(pk=server.pk, **values_of(now)).update(**after)
        except IntegrityError as error:
            raise Refusal("Another server has this name.", field="name") from error
        if not changed:
            raise ChangedMeanwhile(CHANGED)
        events.record(what=What.SERVER_CHANGED, actor=actor, server=now, before=before, after=after)
    return True


def replace_key(*, actor: User, server: Server, api_key: str) -> bool:
    """Stores a key, or none for "". False when it is the one that is stored. What it was is never kept."""
    if has_key(server, api_key):
        return False
    had = _set(server.api_key_encrypted)
    server.api_key = api_key
    # A key that was refused no longer says anything: the next call may try.
    server.health, server.health_text = Server.Health.UNKNOWN, ""
    server.failures, server.closed_until = 0, None
    with transaction.atomic():
        server.save(update_fields=["api_key_encrypted", "health", "health_text", "failures", "closed_until"])
        events.record(
            what=What.KEY_REPLACED if api_key else What.KEY_REMOVED,
            actor=actor,
            server=server,
            before={"key": had},
            after={"key": _set(api_key)},
        )
    return True


def pause(*, actor: User, server: Server, reason: str) -> bool:
    """From now on no write is sent to this server; rows wait. False when they were paused already."""
    return _switch(actor, server, paused=True, reason=reason)


def resume(*, actor: User, server: Server, reason: str) -> bool:
    """Rows are sent again, in their order. False when they were not paused."""
    return _switch(actor, server, paused=False, reason=reason)


@transaction.atomic
def _switch(actor: User, server: Server, *, paused: bool, reason: str) -> bool:
    if not Server.objects.filter(pk=server.pk, writes_paused=not paused).update(writes_paused=paused):
        return False
    what = What.WRITES_PAUSED if paused else What.WRITES_RESUMED
    events.record(what=what, actor=actor, server=server, reason=reason)
    return True


def what_holds(server: Server) -> list[str]:
    """What must outlive a server and therefore keeps it: "writes", "review entries". Empty: it may be removed."""
    relations = [relation for relation in Bank._meta.related_objects if relation.on_delete is models.PROTECT]
    found = []
    for relation in relations:
        rows = relation.related_model._default_manager.filter(**{f"{relation.field.name}__server": server})
        if rows.exists():
            found.append(str(relation.related_model._meta.verbose_name_plural))
    return sorted(found, reverse=True)


def remove(*, actor: User, server: Server) -> None:
    """Forgets a server, its banks without any history, and the roles on them. Raises Refusal when something holds it.

    Nothing is said to the server itself: its memories stay where they are.
    """
    if server.is_demo:
        raise Refusal("This server belongs to the demo and would be back at the next start.")
    try:
        with transaction.atomic():
            if held := what_holds(server):
                raise Refusal(f"Its banks have {' and '.join(held)}, and those are kept for ever.")
            was = {**described(server), "banks": server.banks.count()}
            events.record(what=What.SERVER_REMOVED, actor=actor, server=server, before=was)
            Server.objects.get(pk=server.pk).delete()
    except models.ProtectedError as error:  # a write came in between
        raise Refusal("Something has just been written to one of its banks.") from error


def named_by(addresses: Collection[Address], namespace: str, *, but: Server | None = None) -> Server | None:
    """The registered server that one of these addresses means, in this namespace."""
    wanted = set(addresses)
    for server in Server.objects.filter(namespace=namespace).order_by("pk"):
        if (but is None or server.pk != but.pk) and wanted & _parsed(server.addresses):
            return server
    return None


def _check_addresses(addresses: Sequence[Address], namespace: str, server: Server | None) -> None:
    if len(set(addresses)) < len(addresses) or (server and set(addresses) & _parsed([server.base_url])):
        raise Refusal("An address is named twice.", field="other")
    if other := named_by(addresses, namespace, but=server):
        field = "other" if server or not _parsed(other.addresses) & {addresses[0]} else "address"
        # To an admin of one server the others do not exist by name.
        who = "" if server else f" It is “{other.name}”."
        raise Refusal(f"Another registered server has this address and namespace.{who}", field=field)


def _check_name(name: str, server: Server | None) -> None:
    same = Server.objects.filter(name__iexact=name)
    if (same.exclude(pk=server.pk) if server else same).exists():
        raise Refusal("Another server has this name.", field="name")


def _set(secret: str) -> str:
    return "set" if secret else "none"


def _parsed(urls: Sequence[str]) -> set[Address]:
    found = set()
    for url in urls:
        try:
            found.add(Address.parse(url))
        except BadAddress:
            continue
    return found


def has_key(server: Server, api_key: str) -> bool:
    """Whether this is the key that is stored; one that cannot be read is none."""
    try:
        return server.api_key == api_key
    except CannotDecrypt:
        return False

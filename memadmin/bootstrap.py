"""The first server: registered from the environment by whichever command runs first, and compared with it later."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import IntegrityError, transaction

from banks.addresses import Address, BadAddress
from banks.crypto import CannotDecrypt
from banks.models import AdminEvent, Server
from banks.services import events
from banks.services.refusal import differences as differences_of
from banks.services.servers import described, has_key

What = AdminEvent.What


@dataclass(frozen=True)
class Difference:
    """What the environment says and the database does not."""

    what: str
    fix: str


def ensure_first_server() -> Server | None:
    """The server that HINDSIGHT_BASE_URL names, registered when there is none yet.

    None without the variable, or when it names a server that differs from those registered: that is never adopted
    silently (`differences` tells). Processes may race: the address is unique, and the loser takes the winner's row.
    """
    if not settings.HINDSIGHT_BASE_URL:
        return None
    address = environment_address()
    if settings.DEMO:
        return _demo_server(address)
    if found := _named_by(address):
        return found
    if Server.objects.filter(is_demo=False).exists():
        return None
    return register(address)


def register(address: Address) -> Server:
    """A new row with the key and namespace of the environment."""
    server = Server(name=_free_name(address), base_url=address.normalised, namespace=settings.HINDSIGHT_NAMESPACE)
    server.api_key = settings.HINDSIGHT_API_KEY
    try:
        with transaction.atomic():
            server.save()
            events.record(what=What.SERVER_ADDED, actor=None, server=server, after=described(server))
    except IntegrityError:
        return Server.objects.get(base_url=address.normalised, namespace=settings.HINDSIGHT_NAMESPACE)
    return server


def adopt_environment(*, moved: bool = False) -> Server:
    """Makes the database say what the environment says.

    A known server gets the environment's key. An unknown address is registered as another server or, with `moved`,
    becomes the new address of the first server; its banks and their log stay, the old address stays known.
    """
    address = environment_address()
    server = _named_by(address)
    was = described(server) if server else {}
    if server is None and moved:
        server = Server.objects.filter(is_demo=False).order_by("pk").first()
        if server is not None:
            was = described(server)
            server.other_urls = [*server.other_urls, server.base_url]
            server.base_url, server.namespace = address.normalised, settings.HINDSIGHT_NAMESPACE
    if server is None:
        return register(address)
    _adopt(server, was)
    return server


@transaction.atomic
def _adopt(server: Server, was: dict[str, Any]) -> None:
    """Stores the address, and the key if it is another one; who looks later finds that the environment did it."""
    new_key = not has_key(server, settings.HINDSIGHT_API_KEY)
    if new_key:
        server.api_key = settings.HINDSIGHT_API_KEY
    server.save(update_fields=["base_url", "other_urls", "namespace", "api_key_encrypted"])
    now = described(server)
    if new_key:
        what = What.KEY_REPLACED if settings.HINDSIGHT_API_KEY else What.KEY_REMOVED
        events.record(what=what, actor=None, server=server)
    places = [{name: about.get(name) for name in ("address", "namespace", "other_urls")} for about in (was, now)]
    before, after = differences_of(*places)
    if after:
        events.record(what=What.SERVER_CHANGED, actor=None, server=server, before=before, after=after)


def differences() -> list[Difference]:
    if not settings.HINDSIGHT_BASE_URL or settings.DEMO:
        return []
    address = environment_address()
    server = _named_by(address)
    if server is None:
        return [
            Difference(
                f"HINDSIGHT_BASE_URL ({address}, namespace {settings.HINDSIGHT_NAMESPACE}) is not registered.",
                "memadmin adopt-environment registers it; with --moved the first server gets this address.",
            )
        ]
    try:
        same_key = server.api_key == settings.HINDSIGHT_API_KEY
    except CannotDecrypt as error:
        return [Difference(f"The key of server {server} cannot be read: {error}.", "memadmin adopt-environment")]
    if not same_key:
        return [Difference(f"HINDSIGHT_API_KEY is not the key stored for {server}.", "memadmin adopt-environment")]
    return []


def environment_address() -> Address:
    try:
        return Address.parse(settings.HINDSIGHT_BASE_URL)
    except BadAddress as error:
        raise ImproperlyConfigured(f"HINDSIGHT_BASE_URL is no address of a server: {error}") from error


def _named_by(address: Address) -> Server | None:
    for server in Server.objects.filter(namespace=settings.HINDSIGHT_NAMESPACE).order_by("pk"):
        if address.normalised in server.addresses:
            return server
    return None


def _demo_server(address: Address) -> Server:
    """There is one, and it follows the port that the demo got this time."""
    server = Server.objects.filter(is_demo=True).first()
    if server is None:
        return Server.objects.create(name="Demo", base_url=address.normalised, is_demo=True)
    if server.base_url != address.normalised:
        server.base_url = address.normalised
        server.closed_until, server.failures = None, 0
        server.save(update_fields=["base_url", "closed_until", "failures"])
    return server


def _free_name(address: Address) -> str:
    plain = "Hindsight" if address.is_loopback else address.host[:90]
    taken = set(Server.objects.values_list("name", flat=True))
    return next(name for number in range(1, len(taken) + 2) if (name := _numbered(plain, number)) not in taken)


def _numbered(name: str, number: int) -> str:
    return name if number == 1 else f"{name} {number}"

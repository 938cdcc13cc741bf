"""Asking the servers how they are and which banks they have. Reads only: no call here can create a bank."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from django.utils import timezone

from banks import connections
from banks.crypto import CannotDecrypt
from banks.hindsight import BankRow, HindsightClient, HindsightError, NotFound, Refused, Retired, Unreachable
from banks.models import Bank, Server
from banks.seeds import policy

Health = Server.Health
Answer = TypeVar("Answer")

PROBE_TIMEOUT = 5.0  # seconds


@dataclass(frozen=True)
class Told:
    health: Health
    text: str
    version: str = ""
    features: dict[str, bool] | None = None
    banks: list[BankRow] | None = None  # None = not known, which is not the same as none
    clock_ahead: float | None = None  # seconds; None = not known


def probe_all() -> int:
    """Probes every registered server. Returns how many answered."""
    return sum(probe(server).health in (Health.OK, Health.DEGRADED) for server in Server.objects.all())


def probe(server: Server) -> Told:
    """Asks one server and stores what it said. Raises nothing: what went wrong is the answer."""
    began = timezone.now()
    try:
        with connections.talking_to(server, read_timeout=PROBE_TIMEOUT) as client:
            told = _ask(client)
    except Refused as error:
        told = Told(Health.REFUSED, f"The server refuses our key (HTTP {error.status}).")
    except Unreachable as error:
        told = Told(Health.UNREACHABLE, error.detail)
    except HindsightError as error:
        told = Told(Health.DEGRADED, str(error))
    except CannotDecrypt as error:
        told = Told(Health.REFUSED, f"The stored key cannot be read: {error}.")
    _store(server, told, began)
    return told


def _ask(client: HindsightClient) -> Told:
    version, health, banks = _where_it_exists(client.version), _where_it_exists(client.health), client.list_banks()
    state = Health.OK if health is None or health.healthy else Health.DEGRADED
    told = Told(state, health.text if health else "", banks=banks, clock_ahead=client.clock_ahead)
    return replace(told, version=version.api_version, features=version.features) if version else told


def _where_it_exists(ask: Callable[[], Answer]) -> Answer | None:
    """None where this server does not have the endpoint, or has it no more: the list of banks tells enough."""
    try:
        return ask()
    except (NotFound, Retired):
        return None


def _store(server: Server, told: Told, began: datetime) -> None:
    """`began`: of what happened since, the list of banks may know nothing."""
    server.health, server.health_text, server.last_checked = told.health, told.text[:300], timezone.now()
    fields = ["health", "health_text", "last_checked"]
    if told.version:
        server.api_version, server.features = told.version[:50], told.features or {}
        fields += ["api_version", "features"]
    server.save(update_fields=fields)
    if told.banks is None:
        return
    known = set(server.banks.values_list("bank_hash", flat=True)) if server.seed_new_banks else set()
    new = []
    for row in told.banks:
        bank = Bank.objects.get_or_register(server=server, bank_id=row.bank_id, name=row.name[:300])
        if bank.bank_hash not in known:
            new.append(bank)
        changes: dict[str, object] = {}
        if bank.gone_since is not None and bank.gone_since <= began:
            changes["gone_since"] = None
        if row.name and row.name != bank.name and not bank.named_here:
            changes["name"] = row.name[:300]
        if changes:
            Bank.objects.filter(pk=bank.pk).update(**changes)
    policy.seed_new(server=server, banks=new)
    listed = [Bank.hash_of(row.bank_id) for row in told.banks]
    missing = server.banks.filter(gone_since=None, created__lte=began).exclude(bank_hash__in=listed)
    missing.update(gone_since=timezone.now())

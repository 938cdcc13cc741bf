"""Asking the servers how they are and which banks they have. Reads only: no call here can create a bank."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TypeVar

from django.utils import timezone

from banks import connections
from banks.crypto import CannotDecrypt
from banks.hindsight import BankRow, HindsightClient, HindsightError, NotFound, Refused, Retired, Unreachable
from banks.models import Bank, Server

logger = logging.getLogger(__name__)
Health = Server.Health
Answer = TypeVar("Answer")

PROBE_TIMEOUT = 5.0  # seconds
BANKS_COUNTED = 200


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


def probe(server: Server, *, counting: bool = True) -> Told:
    """Asks one server and stores what it said. Raises nothing: what went wrong is the answer.

    `counting`: also how much is in each bank, which takes two calls per bank.
    """
    began = timezone.now()
    try:
        with connections.talking_to(server, read_timeout=PROBE_TIMEOUT) as client:
            told = _ask(client)
            counts = _count(client, told.banks or []) if counting else {}
    except Refused as error:
        told, counts = Told(Health.REFUSED, f"The server refuses our key (HTTP {error.status})."), {}
    except Unreachable as error:
        told, counts = Told(Health.UNREACHABLE, error.detail), {}
    except HindsightError as error:
        told, counts = Told(Health.DEGRADED, str(error)), {}
    except CannotDecrypt as error:
        told, counts = Told(Health.REFUSED, f"The stored key cannot be read: {error}."), {}
    _store(server, told, counts, began)
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


Counts = dict[str, tuple[int, int, int | None]]


def _count(client: HindsightClient, rows: list[BankRow]) -> Counts:
    """{bank id: (documents, facts, retired facts)} for the banks that could be counted."""
    counts: Counts = {}
    for row in rows[:BANKS_COUNTED]:
        if "/" in row.bank_id:
            continue
        try:
            stats = client.stats(row.bank_id)
            retired = _retired(client, row.bank_id)
        except Unreachable:
            raise
        except HindsightError as error:
            logger.info("bank of server could not be counted: %s", type(error).__name__)
            continue
        counts[row.bank_id] = (stats.documents, stats.facts, retired)
    return counts


def _retired(client: HindsightClient, bank_id: str) -> int | None:
    """None where the server does not tell retired facts from others: its number would be that of all."""
    page = client.list_facts(bank_id, state="invalidated", limit=1)
    tells = "state" not in page.ignored_params and all(fact.is_retired for fact in page.items)
    return page.total if tells else None


def _store(server: Server, told: Told, counts: Counts, began: datetime) -> None:
    """`began`: of what happened since, the list of banks may know nothing."""
    now = timezone.now()
    server.health, server.health_text, server.last_checked = told.health, told.text[:300], now
    fields = ["health", "health_text", "last_checked"]
    if told.version:
        server.api_version, server.features = told.version[:50], told.features or {}
        fields += ["api_version", "features"]
    server.save(update_fields=fields)
    if told.banks is None:
        return
    for row in told.banks:
        bank = Bank.objects.get_or_register(server=server, bank_id=row.bank_id, name=row.name[:300])
        changes: dict[str, object] = {}
        if bank.gone_since is not None and bank.gone_since <= began:
            changes["gone_since"] = None
        if row.name and row.name != bank.name and not bank.named_here:
            changes["name"] = row.name[:300]
        if row.bank_id in counts:
            documents, facts, retired = counts[row.bank_id]
            changes |= {
                "document_count": documents,
                "fact_count": facts,
                "retired_count": retired,
                "counted_at": now,
            }
        if changes:
            Bank.objects.filter(pk=bank.pk).update(**changes)
    listed = [Bank.hash_of(row.bank_id) for row in told.banks]
    server.banks.filter(gone_since=None, created__lte=began).exclude(bank_hash__in=listed).update(gone_since=now)

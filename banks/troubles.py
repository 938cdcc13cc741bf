"""What is wrong with a server or a bank as a whole, in words for the pages where people would notice."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from banks import access
from banks.models import Bank, Server

Health = Server.Health
GONE_SHOWN = 20


@dataclass(frozen=True)
class Trouble:
    """`fix`: whether this person may open the server's page, where it is put right."""

    what: str  # refused, unreachable, degraded, paused, gone, unseen
    title: str
    text: str
    server: Server
    bank: Bank | None = None
    since: datetime | None = None
    fix: bool = False


_SAID = {
    Health.REFUSED: (
        "refuses our key",
        "Nothing can be loaded and nothing is sent. Decisions are stored and are sent once the key is right.",
    ),
    Health.UNREACHABLE: (
        "does not answer",
        "What was loaded can be decided on. Decisions are stored and are sent when it answers again.",
    ),
    Health.DEGRADED: (
        "is not well",
        "It answers, but says that something is wrong with it. Writes may take longer or need a person.",
    ),
}


def of_server(server: Server, *, fix: bool = False) -> list[Trouble]:
    found = []
    if server.health in _SAID:
        title, text = _SAID[Health(server.health)]
        said = f" {server.health_text}" if server.health_text else ""
        found.append(Trouble(server.health, title, text + said, server, since=server.last_checked, fix=fix))
    if server.writes_paused:
        text = "An admin paused all writes to it. Decisions are stored and wait."
        found.append(Trouble("paused", "takes no writes for now", text, server, fix=fix))
    return found


def of_bank(bank: Bank, *, fix: bool = False) -> list[Trouble]:
    """The server's troubles and the bank's own. Asks the database for nothing when `bank.server` is there."""
    found = of_server(bank.server, fix=fix)
    if bank.gone_since:
        text = (
            "It is no longer on its server. Texts and decisions are kept here. If it was deleted on purpose, close its "
            "memories; if it was renamed or moved, its memories arrive again from there."
        )
        found.append(Trouble("gone", "is gone", text, bank.server, bank, bank.gone_since, fix))
    elif bank.poll_error and not found:
        text = f"New memories of it are not noticed: {bank.poll_error}"
        found.append(Trouble("unseen", "could not be looked at", text, bank.server, bank, bank.polled_at, fix))
    return found


def seen_by(user: Any, servers: Iterable[Server]) -> list[Trouble]:
    """All that this person should know: of `servers`, as the rail shows them, and of banks that are gone."""
    unwell = [server for server in servers if server.health in _SAID or server.writes_paused]
    gone = list(access.banks_for(user).filter(gone_since__isnull=False).select_related("server")[:GONE_SHOWN])
    if not unwell and not gone:
        return []
    fixable = set(access.servers_for(user).values_list("pk", flat=True))
    found = [trouble for server in unwell for trouble in of_server(server, fix=server.pk in fixable)]
    return found + [
        trouble for bank in gone for trouble in of_bank(bank, fix=bank.server_id in fixable) if trouble.bank
    ]

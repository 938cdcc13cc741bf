"""What is read for the pages about servers, by a constant number of queries each."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Q
from django.utils import timezone

from banks import access
from banks.addresses import Address, BadAddress
from banks.models import Bank, Server, Write
from banks.selectors import NEEDS_A_PERSON

SERVERS_SHOWN, FEATURES_SHOWN, LONGEST_FEATURE = 200, 50, 60
# The sweep asks every minute: an answer that is older tells about the workers.
STALE = timedelta(minutes=5)

WHAT_TO_DO = {
    Server.Health.UNKNOWN: "It has not been asked yet. Ask now, or wait a minute.",
    Server.Health.DEGRADED: "It answers, but not as it should. Writes are tried, and tried again. Look at its own log.",
    Server.Health.UNREACHABLE: "Start it, or look at its address and at what lies between. "
    "Nothing is lost: decisions are stored, and sent once it answers.",
    Server.Health.REFUSED: "Replace the key. Until then nothing is read from its banks or written to them; "
    "decisions are stored and wait.",
}


@dataclass
class ServerRow:
    server: Server
    banks: int = 0
    waiting: int = 0  # writes that are on their way or wait to be sent
    attention: int = 0  # writes that wait for a person

    @property
    def offers(self) -> list[str]:
        """What the server says that it can, by its own words."""
        return self._features(on=True)

    @property
    def offers_not(self) -> list[str]:
        return self._features(on=False)

    def _features(self, *, on: bool) -> list[str]:
        names = sorted(name for name, has in self.server.features.items() if has is on)
        return [name[:LONGEST_FEATURE] for name in names[:FEATURES_SHOWN]]

    @property
    def closed_until(self) -> datetime | None:
        """The circuit breaker: when connections are tried again; None = it is closed, calls go through."""
        until = self.server.closed_until
        return until if until and until > timezone.now() else None

    @property
    def what_to_do(self) -> str:
        return WHAT_TO_DO.get(Server.Health(self.server.health), "")

    @property
    def stale(self) -> bool:
        asked = self.server.last_checked
        return asked is not None and timezone.now() - asked > STALE

    @property
    def key_travels_readable(self) -> bool:
        """A key over http to another machine."""
        server = self.server
        return bool(server.api_key_encrypted) and server.base_url.startswith("http:") and not _is_here(server)


def server_rows(user: Any) -> list[ServerRow]:
    """By name; one more than are shown tells that there are more."""
    return _counted(access.servers_for(user).order_by("name")[: SERVERS_SHOWN + 1])


def server_row(server: Server) -> ServerRow:
    return _counted([server])[0]


def _counted(servers: Iterable[Server]) -> list[ServerRow]:
    rows = {server.pk: ServerRow(server) for server in servers}
    for pk, banks in Bank.objects.filter(server__in=rows).order_by().values_list("server").annotate(Count("pk")):
        rows[pk].banks = banks
    # By state alone: naming banks or servers too, SQLite would go through all rows of theirs that are done.
    unfinished = Write.objects.filter(state__in=[*Write.OPEN, *NEEDS_A_PERSON]).order_by().values_list("bank__server")
    counts = {
        "waiting": Count("pk", filter=Q(state__in=Write.OPEN)),
        "attention": Count("pk", filter=Q(state__in=NEEDS_A_PERSON)),
    }
    for pk, waiting, attention in unfinished.annotate(**counts):
        if pk in rows:
            rows[pk].waiting, rows[pk].attention = waiting, attention
    return list(rows.values())


def _is_here(server: Server) -> bool:
    try:
        return Address.parse(server.base_url).is_loopback
    except BadAddress:
        return False

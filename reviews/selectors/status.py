"""Servers and banks as the tool's panel shows them: who answers, and how much is there, as far as it was read."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Min, Q, Sum

from banks.access import banks_for
from banks.models import Bank, Server
from banks.selectors import servers_seen_by

NAMED_ALIKE = 5


@dataclass(frozen=True)
class ServerStatus:
    """Of the banks that this person may see. `unread`: how many of them were never counted, and are in no sum."""

    server: Server
    banks: int
    documents: int
    facts: int
    unread: int
    oldest: datetime | None  # when the oldest of the numbers was read


def server_statuses(user: Any) -> list[ServerStatus]:
    counted = banks_for(user).filter(gone_since=None).order_by().values("server")
    sums = counted.annotate(
        banks=Count("pk"),
        documents=Sum("document_count", default=0),
        facts=Sum("fact_count", default=0),
        unread=Count("pk", filter=Q(document_count=None) | Q(fact_count=None)),
        oldest=Min("counted_at"),
    )
    of: dict[int, dict[str, Any]] = {row["server"]: {**row} for row in sums}
    none: dict[str, Any] = {"banks": 0, "documents": 0, "facts": 0, "unread": 0, "oldest": None}
    return [ServerStatus(**{**none, **of.get(server.pk, {}), "server": server}) for server in servers_seen_by(user)]


def banks_called(user: Any, bank_id: str) -> list[Bank]:
    """Those of this id, on whichever server; without one, none."""
    if not bank_id:
        return []
    found = banks_for(user).filter(bank_hash=Bank.hash_of(bank_id), gone_since=None).select_related("server")
    return list(found.order_by("server__name")[:NAMED_ALIKE])

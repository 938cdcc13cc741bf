"""Asking a server what it counts in one bank. Reads only: no call here can create a bank."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import TypeVar

from banks.hindsight import BankRow, HindsightClient, HindsightError, NotFound, Unreachable

Answer = TypeVar("Answer")
Listed = Mapping[str, BankRow]  # of a server's whole list of banks, by their ids

DAYS_KEPT = 14
TYPES_KEPT, LONGEST_TYPE = 20, 60
NOT_LISTED = "The server's list of banks does not have it."


@dataclass(frozen=True)
class Numbers:
    """What could be read; None = the server does not tell, which is not the same as nothing."""

    documents: int
    facts: int
    facts_by_type: dict[str, int]
    retired: int | None
    backlog: int | None
    last_write_at: datetime | None
    days: list[int] | None = None
    days_to: date | None = None
    aliases: list[str] | None = field(default=None)


def listed_by(client: HindsightClient) -> Listed:
    return {row.bank_id: row for row in client.list_banks()}


def read(client: HindsightClient, bank_id: str, listed: Listed) -> Numbers:
    """Four calls. Raises HindsightError where the counters cannot be read; what else cannot be is unknown.

    Servers count zeros for banks that do not exist, so what their list does not have is not asked for.
    """
    row = listed.get(bank_id)
    if row is None:
        raise NotFound(NOT_LISTED, what="bank", status=None)
    stats = client.stats(bank_id)
    retired = retired_count(client, bank_id)
    days = _if_told(lambda: client.days(bank_id))
    aliases = _if_told(lambda: client.aliases(bank_id))
    types = sorted(stats.facts_by_type.items(), key=lambda each: (-each[1], each[0]))[:TYPES_KEPT]
    return Numbers(
        documents=stats.documents,
        facts=stats.facts,
        facts_by_type={kind.replace("\0", "")[:LONGEST_TYPE]: count for kind, count in types},
        retired=retired,
        backlog=stats.pending_consolidation,
        last_write_at=stats.last_write_at or row.last_write_at,
        days=days.counts[-DAYS_KEPT:] if days else None,
        days_to=days.last if days else None,
        aliases=aliases,
    )


def retired_count(client: HindsightClient, bank_id: str) -> int | None:
    """None where the server does not tell retired facts from others: its number would be that of all."""
    page = client.list_facts(bank_id, state="invalidated", limit=1)
    tells = "state" not in page.ignored_params and all(fact.is_retired for fact in page.items)
    return page.total if tells and page.counted else None


def _if_told(ask: Callable[[], Answer]) -> Answer | None:
    """What older servers do not have, and what fails by itself, hides no other number."""
    try:
        return ask()
    except Unreachable:
        raise
    except HindsightError:
        return None

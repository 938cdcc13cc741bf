"""The first page: what is waiting, what is about to happen by itself, what went wrong."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any

from django.db.models import Count as SqlCount
from django.db.models import Max, Min, Q
from django.db.models.functions import TruncDate
from django.utils import timezone

from banks.access import banks_for
from banks.models import Bank, Write
from banks.selectors import NEEDS_A_PERSON, writes_seen_by
from memadmin.counting import Count, count_of
from reviews.access import entries_for
from reviews.models import ReviewEntry
from reviews.selectors.filters import Filters
from reviews.selectors.queue import Today, due_within, entries, pending_count, today

BANKS_SHOWN = 60
DAYS = 14


@dataclass
class BankRow:
    bank: Bank
    pending: int = 0
    oldest: datetime | None = None
    soon: int = 0
    last_write: datetime | None = None
    days: list[int] = field(default_factory=lambda: [0] * DAYS)


@dataclass(frozen=True)
class Look:
    """Pending memories with something about them that a person should see first."""

    label: str
    query: str
    count: Count


@dataclass(frozen=True)
class Overview:
    pending: Count
    oldest: datetime | None
    soon: Count
    next_due: list[ReviewEntry]
    failed: Count
    failed_first: list[Write]
    failed_oldest: datetime | None
    today: Today
    looks: list[Look]
    banks: list[BankRow]
    more_banks: int
    servers: int


def overview(user: Any) -> Overview:
    """All of the page by a constant number of queries."""
    pending = entries_for(user).filter(state=ReviewEntry.State.PENDING)
    due = entries_for(user).filter(due_within(24))
    failed = writes_seen_by(user).filter(state__in=NEEDS_A_PERSON).select_related("bank").order_by("-pk")
    rows = bank_rows(user)
    return Overview(
        pending=pending_count(user),
        oldest=pending.aggregate(at=Min("enqueued_at"))["at"],
        soon=count_of(due),
        next_due=list(due.only("pk", "document_id", "expires_at").order_by("expires_at", "pk")[:5]),
        failed=count_of(failed),
        failed_first=list(failed[:3]),
        failed_oldest=failed.order_by().aggregate(at=Min("occurred_at"))["at"],
        today=today(user),
        looks=looks(user),
        banks=rows[:BANKS_SHOWN],
        more_banks=max(len(rows) - BANKS_SHOWN, 0),
        servers=len({row.bank.server_id for row in rows}),
    )


def looks(user: Any) -> list[Look]:
    asked = {
        "opened again: changed, or came back after a delete": Filters(state="reopened"),
        "could not be loaded, or are no longer in the bank": Filters(state="broken"),
        "without facts": Filters(state="no-facts"),
    }
    counted = [Look(label, filters.query(), count_of(entries(user, filters))) for label, filters in asked.items()]
    return [look for look in counted if look.count]


def bank_rows(user: Any) -> list[BankRow]:
    """The banks with most waiting first."""
    rows = {bank.pk: BankRow(bank) for bank in banks_for(user).select_related("server")}
    seen = entries_for(user).order_by()
    waiting = seen.filter(state=ReviewEntry.State.PENDING).values_list("bank")
    counts = {"pending": SqlCount("pk"), "oldest": Min("enqueued_at"), "soon": SqlCount("pk", filter=due_within(24))}
    for bank, pending, oldest, soon in waiting.annotate(**counts):
        rows[bank].pending, rows[bank].oldest, rows[bank].soon = pending, oldest, soon
    sent = writes_seen_by(user).filter(state=Write.State.DONE).exclude(slot="").order_by()
    for bank, finished in sent.values_list("bank").annotate(Max("finished")):
        rows[bank].last_write = finished
    for bank, days in arrivals(user).items():
        rows[bank].days = days
    return sorted(rows.values(), key=lambda row: (-row.pending, str(row.bank).lower()))


def arrivals(user: Any) -> dict[int, list[int]]:
    """Memories per bank and day, the last of `DAYS` being today."""
    last = timezone.localdate()
    first = last - timedelta(days=DAYS - 1)
    found = (
        entries_for(user)
        .filter(Q(enqueued_at__gte=timezone.now() - timedelta(days=DAYS + 1)))
        .order_by()
        .annotate(day=TruncDate("enqueued_at"))
        .values_list("bank", "day")
        .annotate(SqlCount("pk"))
    )
    days: dict[int, list[int]] = defaultdict(lambda: [0] * DAYS)
    for bank, day, count in _between(found, first, last):
        days[bank][(day - first).days] = count
    return days


def _between(found: Iterable[Any], first: date, last: date) -> Iterable[tuple[int, date, int]]:
    return [(bank, day, count) for bank, day, count in found if day is not None and first <= day <= last]

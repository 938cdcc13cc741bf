"""The first page: what is waiting, what is about to happen by itself, what went wrong."""

from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from itertools import pairwise
from typing import Any

from django.core.cache import cache
from django.db import connection
from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from banks.access import banks_for
from banks.models import Bank, Write
from banks.recall.selectors import lost_for
from banks.selectors import NEEDS_A_PERSON, writes_seen_by
from banks.selectors_operations import troubled
from memadmin.counting import CAP, CappedCount, Count, capped, counts_of
from memadmin.paging import walk
from reviews.models import ReviewEntry
from reviews.selectors import facts
from reviews.selectors.filters import Filters
from reviews.selectors.queue import TAB_CAP, Today, entries, ranges, today

BANKS_SHOWN = 60
DUE_SHOWN = 5
BANK_CAP = 1_000
DAYS = 14
DAY_CAP = 500  # a bar that is full; busier days look alike
DAYS_KEPT = 300  # seconds
AT_ONCE = 400  # SQLite takes 500


@dataclass
class BankRow:
    bank: Bank
    pending: Count
    soon: Count
    held: Count
    oldest: datetime | None = None
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
    oldest: datetime | None
    soon: Count
    held: Count
    next_due: list[ReviewEntry]
    failed_first: list[Write]
    failed_oldest: datetime | None
    today: Today
    looks: list[Look]
    failed_operations: Count
    stuck_operations: Count
    questions: Count  # decisions about facts that wait for an answer
    lost: int  # facts that saved queries expect, and that do not come back
    banks: list[BankRow]
    more_banks: int
    servers: int


def overview(user: Any) -> Overview:
    """The page by a constant number of queries, none of which reads more where more is waiting.

    What the rail counts, pending memories and writes that need a person, is not counted again.
    """
    due = Filters(age="soon")
    soon, held = counts_of([(entries(user, one), TAB_CAP) for one in (due, Filters(state="held"))])
    failed = writes_seen_by(user).filter(state__in=NEEDS_A_PERSON).select_related("bank").order_by("-pk")
    rows = bank_rows(user)
    questions = facts.question_count(user)
    failed_operations, stuck_operations = troubled(user)
    return Overview(
        oldest=min((row.oldest for row in rows if row.oldest), default=None),
        soon=soon,
        held=held,
        next_due=next_due(user, due),
        failed_first=list(failed[:3]),
        failed_oldest=min(failed.order_by().values_list("occurred_at", flat=True)[:CAP], default=None),
        today=today(user),
        looks=looks(user),
        failed_operations=failed_operations,
        stuck_operations=stuck_operations,
        questions=questions,
        lost=lost_for(user).facts,
        banks=_with_days(rows[:BANKS_SHOWN]),
        more_banks=max(len(rows) - BANKS_SHOWN, 0),
        servers=len({row.bank.server_id for row in rows}),
    )


def next_due(user: Any, due: Filters) -> list[ReviewEntry]:
    rows, split = ranges(user, due)
    return walk(rows.only("pk", "document_id", "expires_at"), due.ordering(), None, DUE_SHOWN, split)


def looks(user: Any) -> list[Look]:
    asked = {
        "opened again: changed, or came back after a delete": Filters(state="reopened"),
        "could not be loaded, or are no longer in the bank": Filters(state="broken"),
        "without facts": Filters(state="no-facts"),
    }
    counts = counts_of([(entries(user, filters), TAB_CAP) for filters in asked.values()])
    counted = [Look(*each) for each in zip(asked, (one.query() for one in asked.values()), counts, strict=True)]
    return [look for look in counted if look.count]


def bank_rows(user: Any) -> list[BankRow]:
    return rows_of(banks_for(user))


def rows_of(banks: QuerySet[Bank]) -> list[BankRow]:
    """The banks with most waiting first."""
    waiting = ReviewEntry.objects.filter(bank=OuterRef("pk"), state=ReviewEntry.State.PENDING)
    dated = waiting.filter(enqueued_at__isnull=False).order_by("enqueued_at")
    sent = Write.objects.filter(~Q(slot=""), bank=OuterRef("pk"), state=Write.State.DONE, finished__isnull=False)
    found = banks.annotate(
        waiting=CappedCount(waiting, BANK_CAP),
        held=CappedCount(ReviewEntry.objects.filter(bank=OuterRef("pk"), state=ReviewEntry.State.HELD), BANK_CAP),
        due=CappedCount(waiting.filter(expires_at__lte=timezone.now() + timedelta(hours=24)), BANK_CAP),
        oldest=Subquery(dated.values("enqueued_at")[:1]),
        last_write=Subquery(sent.order_by("-finished").values("finished")[:1]),
    )
    rows = [
        BankRow(
            bank,
            pending=capped(bank.waiting, BANK_CAP),
            soon=capped(bank.due, BANK_CAP),
            held=capped(bank.held, BANK_CAP),
            oldest=bank.oldest,
            last_write=bank.last_write,
        )
        for bank in found.select_related("server")
    ]
    return sorted(rows, key=lambda row: (-row.pending.number, -row.held.number, str(row.bank).lower()))


# ── the chart ────────────────────────────────────────────────────────────────────────────────────────────────


def _with_days(rows: list[BankRow]) -> list[BankRow]:
    """Sets `days` of each row, as they were at most `DAYS_KEPT` ago."""
    today = timezone.localdate()
    keys = {row.bank.pk: f"arrivals:{row.bank.pk}:{today}" for row in rows}
    known = cache.get_many(keys.values())
    fresh = arrivals([pk for pk, key in keys.items() if key not in known], today)
    cache.set_many({keys[pk]: days for pk, days in fresh.items()}, DAYS_KEPT)
    for row in rows:
        row.days = fresh.get(row.bank.pk) or known[keys[row.bank.pk]]
    return rows


def arrivals(banks: list[int], last: date) -> dict[int, list[int]]:
    """Memories per bank and day, the last of `DAYS` being `last`. Of a day no more than `DAY_CAP` are counted."""
    adapt = connection.ops.adapt_datetimefield_value
    starts = [last - timedelta(days=days) for days in range(DAYS - 1, -2, -1)]
    edges = [adapt(timezone.make_aware(datetime.combine(day, time.min))) for day in starts]
    asked = [(pk, *edge) for pk in banks for edge in pairwise(edges)]
    counts = [count for start in range(0, len(asked), AT_ONCE) for count in _day_counts(asked[start : start + AT_ONCE])]
    return {pk: counts[at * DAYS : (at + 1) * DAYS] for at, pk in enumerate(banks)}


def _day_counts(asked: list[tuple[Any, ...]]) -> list[int]:
    """For each (bank, from, before) the number of memories, in one statement."""
    states = ", ".join(f"'{state}'" for state in ReviewEntry.State.values)
    one = (
        f"SELECT %s, COUNT(*) FROM (SELECT 1 FROM {ReviewEntry._meta.db_table} WHERE state IN ({states})"  # noqa: S608
        f" AND bank_id = %s AND enqueued_at >= %s AND enqueued_at < %s LIMIT {DAY_CAP}) AS counted"
    )
    values = [value for at, ask in enumerate(asked) for value in (at, *ask)]
    with connection.cursor() as cursor:
        cursor.execute(" UNION ALL ".join([one] * len(asked)), values)
        return [count for _, count in sorted(cursor.fetchall())]

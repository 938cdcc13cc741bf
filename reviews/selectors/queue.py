"""The review queue: one filtered base for the list, its counts and the way from card to card."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db.models import Count as SqlCount
from django.db.models import Q, QuerySet
from django.utils import timezone

from banks.access import banks_for
from banks.models import Bank
from memadmin.counting import Count, count_of
from memadmin.paging import Cursor, Page, page_of
from reviews.access import entries_for
from reviews.models import Decision, ReviewEntry
from reviews.selectors.filters import Filters

PAGE_SIZE = 25
# Lists show none of these; they can be long.
HEAVY = ["retain_params", "tags", "sources", "load_error"]


@dataclass(frozen=True)
class Tab:
    """A ready-made filter over the queue and how many it finds."""

    label: str
    query: str
    current: bool
    count: Count | None = None
    tone: str = ""


@dataclass(frozen=True)
class Options:
    """What the selects of the filter bar offer."""

    banks: list[Bank]
    projects: list[str]
    reasons: list[str]


@dataclass(frozen=True)
class Today:
    """Decisions of this day that still stand."""

    mine: int
    others: int
    by_time: int
    claimed: int  # by an imported file

    @property
    def total(self) -> int:
        return self.mine + self.others + self.by_time + self.claimed


def entries(user: Any, filters: Filters) -> QuerySet[ReviewEntry]:
    """The one base: the list, its count and the neighbours of a card are all made from it."""
    return entries_for(user).filter(filters.condition())


def entry_page(user: Any, filters: Filters, cursor: Cursor | None, size: int = PAGE_SIZE) -> Page[ReviewEntry]:
    rows = entries(user, filters).select_related("bank", "lease_user").defer(*HEAVY)
    return page_of(rows, filters.ordering(), cursor, size)


def pending_count(user: Any) -> Count:
    return count_of(entries(user, Filters()))


def tabs(user: Any, filters: Filters) -> list[Tab]:
    def tab(label: str, asked: Filters, tone: str = "", *, counted: bool = True) -> Tab:
        same = (filters.state, filters.age) == (asked.state, asked.age)
        count = count_of(entries(user, asked)) if counted else None
        return Tab(label, asked.query(), same, count, tone if count else "")

    return [
        tab("All pending", Filters()),
        tab("Within 24 h", Filters(age="soon"), "attention"),
        tab("Flagged", Filters(state="flagged"), "attention"),
        tab("Could not load", Filters(state="broken"), "attention"),
        tab("Decided", Filters(state="decided"), counted=False),
    ]


def options(user: Any) -> Options:
    pending = entries(user, Filters()).order_by()
    return Options(
        banks=list(banks_for(user).order_by("name", "id")[:300]),
        projects=list(pending.exclude(project="").values_list("project", flat=True).distinct()[:100]),
        reasons=list(pending.exclude(reason="").values_list("reason", flat=True).distinct()[:50]),
    )


def neighbours(user: Any, filters: Filters, entry: ReviewEntry) -> tuple[int | None, int | None]:
    """The primary keys of the entries before and behind this one in the list it was opened from."""
    order = filters.ordering()
    rows = entries(user, filters).exclude(pk=entry.pk)
    value = getattr(entry, order.field)
    before = rows.filter(order.beyond(value, entry.pk, backwards=True)).order_by(*order.by(backwards=True))
    behind = rows.filter(order.beyond(value, entry.pk)).order_by(*order.by())
    return before.values_list("pk", flat=True).first(), behind.values_list("pk", flat=True).first()


def first(user: Any, filters: Filters, *, but: ReviewEntry | None = None) -> int | None:
    rows = entries(user, filters).order_by(*filters.ordering().by())
    if but:
        rows = rows.exclude(pk=but.pk)
    return rows.values_list("pk", flat=True).first()


def next_after(user: Any, filters: Filters, entry: ReviewEntry) -> int | None:
    """What to look at when this entry is done with: the one behind it, else the first one left, else None.

    Ask before the decision: a decision changes what the list is ordered by.
    """
    filters = filters.undecided
    _, behind = neighbours(user, filters, entry)
    if behind is not None:
        return behind
    return first(user, filters, but=entry)


def today(user: Any) -> Today:
    """Decisions since midnight that were not taken back, each entry once."""
    Via, State = Decision.Via, ReviewEntry.State  # noqa: N806
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    person = Q(decided_via=Via.PERSON)

    def entries_where(condition: Q) -> SqlCount:
        return SqlCount("entry", filter=condition, distinct=True)

    counted = Decision.objects.filter(
        at__gte=midnight,
        verdict__in=[Decision.Verdict.APPROVED, Decision.Verdict.DELETED],
        entry__state__in=[State.APPROVED, State.DELETING, State.DELETED],
        entry__bank__in=banks_for(user),
    ).aggregate(
        mine=entries_where(person & Q(user=user)),
        others=entries_where(person & ~Q(user=user)),
        by_time=entries_where(Q(decided_via=Via.EXPIRY)),
        claimed=entries_where(Q(decided_via=Via.FILE)),
    )
    return Today(**counted)


def due_within(hours: int) -> Q:
    return Q(state=ReviewEntry.State.PENDING, expires_at__lte=timezone.now() + timedelta(hours=hours))

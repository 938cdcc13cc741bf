"""What is read for the list of the write log."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import OuterRef, Subquery
from django.utils import timezone

from banks import access, writes
from banks.files.selectors import tell_files
from banks.log_filters import STATES, VIAS, Listed, LogFilters
from banks.models import Bank, Unindexed, Write
from banks.retain.selectors import tell_batches
from banks.selectors import NEEDS_A_PERSON, banks_seen_by, look_of, mark_come_backs, writes_seen_by
from memadmin.accounts.models import User
from memadmin.counting import Count, count_of, counts_of
from memadmin.paging import Cursor, Order, Page, page_of

LOG_ORDER = Order("occurred_at", descending=True)
PAGE_SIZE = 50
CAP = 1_000  # of what a filter finds: counting more costs more than the page
PEOPLE_SHOWN = 300
# What a list row never shows.
HEAVY = ["params", "fact_ids"]


def write_page(listed: Listed, cursor: Cursor | None, size: int = PAGE_SIZE) -> Page[Write]:
    # Not joined: a database could begin with the banks, and sort what it finds.
    rows = listed.rows.prefetch_related("bank", "token").defer(*HEAVY)
    page = page_of(rows, LOG_ORDER, cursor, size, listed.split)
    mark_come_backs(page.rows)
    tell_batches(page.rows)
    tell_files(page.rows)
    return page


def found_and_in_flight(user: Any, listed: Listed) -> tuple[Count, Count]:
    """How many rows the list has, and how many are under way in all banks. One query."""
    in_flight = writes_seen_by(user).filter(state__in=Write.OPEN)
    found, flight = counts_of([(listed.all, CAP), (in_flight, CAP)])
    return found, flight


def not_indexed_yet(filters: LogFilters) -> Count | None:
    """How many rows the search and the filter by fact may miss; asked only where they are used."""
    return count_of(Unindexed.objects.all(), CAP) if filters.indexed_later else None


@dataclass(frozen=True)
class Options:
    """What the selects of the filter bar offer. What is asked for is among it."""

    banks: list[Bank]
    kinds: list[str]
    people: list[User]
    states: dict[str, str]
    vias: dict[str, str]


def options(user: Any, filters: LogFilters) -> Options:
    # Kinds that there may be: looking for those that occur would read the whole log.
    kinds = {*writes.names(), *([filters.kind] if filters.kind else [])}
    return Options(
        banks=banks_seen_by(user),
        kinds=sorted(kinds, key=lambda kind: look_of(kind).verb),
        people=people_seen_by(user),
        states=STATES,
        vias=VIAS,
    )


def people_seen_by(user: Any) -> list[User]:
    """Who did something in the banks that this person may see. One look into an index for each account and bank."""
    row = Write.objects.filter(actor=OuterRef(OuterRef("pk")), bank=OuterRef("pk"))
    # The order says which index: without it a database may read the whole log for a person who did nothing.
    newest = row.order_by("-occurred_at", "-pk").values("pk")[:1]
    acted_in = access.banks_for(user).annotate(row=Subquery(newest)).filter(row__isnull=False).values("pk")[:1]
    people = User.objects.annotate(acted_in=Subquery(acted_in)).filter(acted_in__isnull=False)
    return list(people.order_by("first_name", "username")[:PEOPLE_SHOWN])


@dataclass(frozen=True)
class Line:
    """One line of the list: a row, or several neighbours of one bulk action. `total`: rows of the whole action."""

    rows: list[Write]
    total: Count | None = None

    @property
    def first(self) -> Write:
        return self.rows[0]

    @property
    def states(self) -> str:
        """ "12 done, 2 queued"."""
        counts = Counter(row.get_state_display() for row in self.rows)
        return ", ".join(f"{count:,} {state}" for state, count in counts.most_common())


def lines_of(user: Any, rows: Iterable[Write]) -> list[Line]:
    """Neighbours of one bulk action stand on one line. What needs a person stands by itself."""
    folded: list[list[Write]] = []
    for row in rows:
        if folded and _go_together(folded[-1][-1], row):
            folded[-1].append(row)
        else:
            folded.append([row])
    groups = list({each[0].group for each in folded if len(each) > 1})
    found = counts_of([(writes_seen_by(user).filter(group=group), CAP) for group in groups]) if groups else []
    totals = dict(zip(groups, found, strict=True))
    return [Line(each, totals.get(each[0].group) if len(each) > 1 else None) for each in folded]


def _go_together(one: Write, other: Write) -> bool:
    same_act = one.group is not None and (one.group, one.kind) == (other.group, other.kind)
    same_act = same_act and one.via != Write.Via.IMPORT  # brought together, and each done by itself
    same_day = timezone.localtime(one.occurred_at).date() == timezone.localtime(other.occurred_at).date()
    return same_act and same_day and not {one.state, other.state} & set(NEEDS_A_PERSON)

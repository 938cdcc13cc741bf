"""The review queue: one filtered base for the list, its counts and the way from card to card."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.db.models import Count as SqlCount
from django.db.models import Q, QuerySet
from django.utils import timezone

from banks.access import bank_ids_for, banks_for
from banks.models import Bank
from memadmin.counting import CAP, Count, count_of, counts_of
from memadmin.paging import Cursor, Order, Page, Split, first_of_each, page_of, walk_ids
from reviews.access import entries_for
from reviews.models import Decision, ReviewEntry
from reviews.selectors.filters import UNDECIDED, Filters
from reviews.selectors.skips import skipped_by

PAGE_SIZE = 25
# Lists show none of these; they can be long.
HEAVY = ["retain_params", "tags", "sources", "load_error"]
# Counting more costs more than the page: tabs say "1,000+", and the selects know the newest memories of each bank.
TAB_CAP = 1_000
SAMPLE = 500
NEAR = 2  # memories that a card knows to be next
NEWEST = Order("enqueued_at", descending=True)


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
    """Decisions of this day that still stand, each memory once. `capped`: there are more than these."""

    mine: int
    others: int
    by_time: int
    claimed: int  # by an imported file
    capped: bool = False

    @property
    def total(self) -> int:
        return self.mine + self.others + self.by_time + self.claimed

    @property
    def plus(self) -> str:
        """To be shown behind all of the numbers but one's own."""
        return "+" if self.capped else ""


def entries(user: Any, filters: Filters) -> QuerySet[ReviewEntry]:
    """The one base: the list, its count and the neighbours of a card are all made from it."""
    return entries_for(user).filter(filters.condition())


def entry_page(user: Any, filters: Filters, cursor: Cursor | None, size: int = PAGE_SIZE) -> Page[ReviewEntry]:
    """What this person has skipped stands at the end of the last page."""
    rows, split = ranges(user, filters)
    rows = rows.select_related("bank", "lease_user").defer(*HEAVY)
    page = page_of(rows, filters.ordering(), cursor, size, split)
    if page.later or not (last := skipped(user, filters)):
        return page
    found = ReviewEntry.objects.select_related("bank", "lease_user").defer(*HEAVY).in_bulk(last)
    return replace(page, rows=[*page.rows, *(found[pk] for pk in last if pk in found)])


def skipped(user: Any, filters: Filters) -> list[int]:
    """Of what this person has skipped the primary keys of what belongs to the list, the latest last."""
    if filters.state not in UNDECIDED or not (last := skipped_by(user)):
        return []
    listed = set(entries(user, filters).filter(pk__in=last).values_list("pk", flat=True))
    return [pk for pk in last if pk in listed]


def ranges(user: Any, filters: Filters) -> tuple[QuerySet[ReviewEntry], Split | None]:
    """What `entries` finds, as the ranges that the indexes have in the order of the list: by state and bank.

    Without what this person has skipped.
    """
    but = skipped_by(user) if filters.state in UNDECIDED else []
    if filters.q:  # the words find the rows
        return entries(user, filters).exclude(pk__in=but), None
    split: dict[str, Any] = {"state": filters.states}
    banks = bank_ids_for(user)
    if filters.bank:
        split["bank"] = [pk for pk in [int(filters.bank)] if banks is None or pk in banks]
    elif banks is not None or filters.special or filters.heading:
        split["bank"] = list(Bank.objects.values_list("pk", flat=True)) if banks is None else banks
    return ReviewEntry.objects.filter(filters.within()).exclude(pk__in=but), split


def pending_count(user: Any) -> Count:
    return count_of(entries(user, Filters()))


def tabs(user: Any, filters: Filters) -> list[Tab]:
    narrow = [Filters(age="soon"), Filters(state="flagged"), Filters(state="broken"), Filters(state="held")]
    asked = [Filters(), *narrow]
    labels = ["All pending", "Within 24 h", "Flagged", "Could not load", "Held"]
    found = counts_of([(entries(user, one), TAB_CAP if one.narrow else CAP) for one in asked])

    def tab(label: str, asked: Filters, count: Count | None) -> Tab:
        same = (filters.state, filters.age) == (asked.state, asked.age)
        return Tab(label, asked.query(), same, count, "attention" if count and asked.narrow else "")

    counted = [tab(*each) for each in zip(labels, asked, found, strict=True)]
    return [*counted, tab("Decided", Filters(state="decided"), None)]


def options(user: Any) -> Options:
    """Projects and reasons of the newest pending memories: all that occur is more than a page can look for."""
    rows, split = ranges(user, Filters())
    banks = max(len(split.get("bank", [])), 1) if split else 1
    newest = rows.order_by(*NEWEST.by()).values_list("project", "reason")
    found = first_of_each(newest, split, SAMPLE // banks + 1) if split else []
    return Options(
        banks=list(banks_for(user).order_by("name", "id")[:300]),
        projects=sorted({project for project, _ in found if project})[:100],
        reasons=sorted({reason for _, reason in found if reason})[:50],
    )


def neighbours(user: Any, filters: Filters, entry: ReviewEntry) -> tuple[int | None, list[int]]:
    """The primary keys of the entry before this one in the list it was opened from, and of the next two."""
    before = _beside(user, filters, entry, 1, backwards=True)
    return (before[0] if before else None), _beside(user, filters, entry, NEAR)


def _beside(user: Any, filters: Filters, entry: ReviewEntry, limit: int, *, backwards: bool = False) -> list[int]:
    """The nearest ones; what was skipped comes last, as it was skipped."""
    last = skipped(user, filters)
    if entry.pk in last:
        at = last.index(entry.pk)
        return last[:at][::-1][:limit] if backwards else last[at + 1 :][:limit]
    found = _walk(user, filters, filters.ordering().at(entry, back=backwards), limit)
    return found if backwards else [*found, *last][:limit]


def _walk(user: Any, filters: Filters, cursor: Cursor | None, limit: int) -> list[int]:
    rows, split = ranges(user, filters)
    return walk_ids(rows, filters.ordering(), cursor, limit, split)


def first(user: Any, filters: Filters, but: int | None = None) -> int | None:
    found = [*_walk(user, filters, None, 2), *skipped(user, filters)]
    return next((pk for pk in found if pk != but), None)


def next_after(user: Any, filters: Filters, entry: ReviewEntry) -> int | None:
    """What to look at when this entry is done with: the one behind it, else the first one left, else None.

    Ask before the decision: a decision changes what the list is ordered by.
    """
    filters = filters.undecided
    if entry.pk not in skipped_by(user) and (near := _walk(user, filters, filters.ordering().at(entry), 1)):
        return near[0]
    beside = _beside(user, filters, entry, 1) if entry.pk in skipped_by(user) else []
    return beside[0] if beside else first(user, filters, but=entry.pk)


def today(user: Any) -> Today:
    """Since midnight; beyond `CAP` decisions it looks at no more of them."""
    Via = Decision.Via  # noqa: N806
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    decided = entries(user, Filters(state="decided")).filter(decided_at__gte=midnight).order_by()
    by = {via.value: SqlCount("pk", filter=Q(decided_via=via)) for via in (Via.PERSON, Via.EXPIRY, Via.FILE)}
    found = decided[: CAP + 1].aggregate(all=SqlCount("pk"), **by)
    mine = _mine(user, midnight)
    return Today(
        mine=mine,
        others=max(found[Via.PERSON] - mine, 0),
        by_time=found[Via.EXPIRY],
        claimed=found[Via.FILE],
        capped=found["all"] > CAP,
    )


def _mine(user: Any, midnight: datetime) -> int:
    """How many memories that a person decided since then were decided by this one."""
    decisions = Decision.objects.filter(user=user, at__gte=midnight, decided_via=Decision.Via.PERSON)
    standing = decisions.filter(entry__decided_via=Decision.Via.PERSON, entry__decided_at__gte=midnight)
    found: int = standing.aggregate(count=SqlCount("entry", distinct=True))["count"]
    return found

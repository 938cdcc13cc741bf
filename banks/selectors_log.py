"""The write log: what a person asked it for, and what is read for its pages."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from datetime import date, datetime, time, timedelta
from typing import Any
from uuid import UUID

from django.db.models import OuterRef, Q, QuerySet, Subquery
from django.http import QueryDict
from django.utils import timezone
from django.utils.dateparse import parse_date
from django.utils.http import urlencode

from banks import access, log_index, writes
from banks.models import Bank, Unindexed, Write
from banks.selectors import NEEDS_A_PERSON, banks_seen_by, look_of, mark_come_backs, writes_seen_by
from memadmin.accounts.models import User
from memadmin.counting import Count, count_of, counts_of
from memadmin.paging import Cursor, Order, Page, Split, page_of

State = Write.State
LOG_ORDER = Order("occurred_at", descending=True)
PAGE_SIZE = 50
CAP = 1_000  # of what a filter finds: counting more costs more than the page
PEOPLE_SHOWN = 300
# What a list row never shows.
HEAVY = ["params", "fact_ids"]
STATES = {
    "": "Any state",
    "attention": "Needs a person",
    "flight": "In flight",
    "unknown": "Unknown",
    "retrying": "Retrying",
    "done": "Done",
    "cancelled": "Cancelled",
}
_STATES: dict[str, list[State]] = {
    "attention": NEEDS_A_PERSON,
    "flight": Write.OPEN,
    "unknown": [State.UNKNOWN],
    "retrying": [State.RETRYING],
    "done": [State.DONE],
    "cancelled": [State.CANCELLED],
}
VIAS = dict(Write.Via.choices)
YEARS = range(1970, 2200)
NO_WORD = "Search needs at least one letter or digit; the signs alone were left out."


@dataclass(frozen=True)
class Listed:
    """Rows of the log, as the ranges that its indexes have in the order of the list (memadmin.paging)."""

    rows: QuerySet[Write]
    split: Split | None

    @property
    def all(self) -> QuerySet[Write]:
        return self.rows.filter(**{f"{name}__in": values for name, values in (self.split or {}).items()})

    def within(self, banks: list[int]) -> "Listed":
        return Listed(self.rows, {**(self.split or {}), "bank": banks})


@dataclass(frozen=True)
class LogFilters:
    """What a person asked the log for; its `query` is the address of the page. Empty = not asked for.

    Anything that cannot be asked for is dropped, and `parse_log` says so.
    """

    state: str = ""
    kind: str = ""
    bank: str = ""  # primary key
    via: str = ""
    who: str = ""  # "me", or the primary key of a person
    document: str = ""  # the whole id
    fact: str = ""  # the whole id
    group: str = ""  # one bulk action
    since: str = ""  # days, both of them included
    until: str = ""
    q: str = ""

    def query(self, **changes: str) -> str:
        """ "?bank=3&q=flags", or "" when nothing is asked for."""
        values = replace(self, **changes)
        asked = {f.name: value for f in fields(self) if (value := getattr(values, f.name))}
        return f"?{urlencode(asked)}" if asked else ""

    def __str__(self) -> str:
        return self.query()

    @property
    def narrow(self) -> bool:
        return bool(self.query())

    @property
    def exact(self) -> list[tuple[str, str, str]]:
        """(what, which one, the address without it) of the ids that are asked for."""
        names = {"document": "Document", "fact": "Fact", "group": "One action"}
        asked = [(name, label, getattr(self, name)) for name, label in names.items()]
        return [(label, value, self.query(**{name: ""})) for name, label, value in asked if value]

    @property
    def indexed_later(self) -> bool:
        """Whether rows that are not indexed yet may be missing."""
        return bool(self.q or self.fact)

    @property
    def more(self) -> bool:
        """Whether something is asked for that the bar hides at first."""
        return bool(self.via or self.document or self.fact or self.since or self.until)

    def listed(self, user: Any) -> "Listed":
        """The rows that are asked for and that this person may see; None is everybody (the command line)."""
        banks = None if user is None else access.bank_ids_for(user)
        split: dict[str, Any] = {}
        if self.bank:
            split["bank"] = [pk for pk in [int(self.bank)] if banks is None or pk in banks]
        elif banks is not None:
            split["bank"] = banks
        elif self.kind or self.via or self.who or self.document or self.state not in {"", "done"}:
            split["bank"] = list(Bank.objects.order_by().values_list("pk", flat=True))
        rows = Write.objects.filter(self._within(user))
        if self.state == "done":  # nearly all rows are
            rows = rows.filter(state=State.DONE)
        elif self.state:
            split["state"] = _STATES[self.state]
            rows = rows.exclude(state=State.DONE)  # what the index is about
        listed = Listed(rows, split or None)
        # What these ask for is found by itself, not in the order of the list.
        return Listed(listed.all, None) if self.q or self.fact or self.group else listed

    def _within(self, user: Any) -> Q:
        """Everything but the state and the bank."""
        asked = Q()
        for name, value in (("kind", self.kind), ("via", self.via), ("group", self.group)):
            if value:
                asked &= Q(**{name: value})
        if self.who:
            asked &= Q(actor=user.pk if self.who == "me" else int(self.who))
        if self.document:
            asked &= Q(document_hash=Write.hash_of(self.document))
        if self.since:
            asked &= Q(occurred_at__gte=_midnight(date.fromisoformat(self.since)))
        if self.until:
            asked &= Q(occurred_at__lt=_midnight(date.fromisoformat(self.until) + timedelta(days=1)))
        if self.fact:
            asked &= log_index.naming(self.fact)
        if self.q:
            asked &= log_index.matching(self.q)
        return asked


@dataclass(frozen=True)
class Asked:
    """`refused`: what of the address could not be asked for, in words."""

    filters: LogFilters
    refused: list[str]
    page: str
    tidy: bool  # no empty values in the address

    def address(self, path: str) -> str:
        query = self.filters.query()
        paged = urlencode({"page": self.page}) if self.page else ""
        return f"{path}{query}{'&' if query and paged else '?' if paged else ''}{paged}"


def parse_log(query: QueryDict) -> Asked:
    refused: list[str] = []

    def of(name: str, longest: int = 200) -> str:
        return query.get(name, "").replace("\x00", "")[:longest]

    def checked(name: str, good: bool, said: str) -> str:
        value = of(name)
        if value and not good:
            refused.append(said)
        return value if good else ""

    words = of("q").strip()
    if words and not log_index.has_words(words):
        refused.append(NO_WORD)
        words = ""
    filters = LogFilters(
        state=checked("state", of("state") in STATES, "There is no such state."),
        kind=of("kind", 30),
        bank=checked("bank", _is_key(of("bank")), "That is no bank."),
        via=checked("via", of("via") in VIAS, "Rows do not come that way."),
        who=checked("who", of("who") == "me" or _is_key(of("who")), "That is no person."),
        document=query.get("document", ""),
        fact=query.get("fact", ""),
        group=checked("group", _is_uuid(of("group")), "There is no such action."),
        since=checked("since", _is_day(of("since")), f"“{of('since', 20)}” is no day; write 2026-03-16."),
        until=checked("until", _is_day(of("until")), f"“{of('until', 20)}” is no day; write 2026-03-16."),
        q=words,
    )
    return Asked(filters, refused, page=of("page"), tidy=all(value for _, values in query.lists() for value in values))


def _is_key(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 18


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def _is_day(text: str) -> bool:
    try:
        found = parse_date(text)
    except ValueError:
        return False
    return found is not None and found.year in YEARS and found.isoformat() == text


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))


def write_page(listed: Listed, cursor: Cursor | None, size: int = PAGE_SIZE) -> Page[Write]:
    rows = listed.rows.select_related("bank").defer(*HEAVY)
    page = page_of(rows, LOG_ORDER, cursor, size, listed.split)
    mark_come_backs(page.rows)
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
    same_day = timezone.localtime(one.occurred_at).date() == timezone.localtime(other.occurred_at).date()
    return same_act and same_day and not {one.state, other.state} & set(NEEDS_A_PERSON)

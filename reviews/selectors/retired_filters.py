"""What a person asked the archive for; it travels in the query string."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

from django.db.models import Q

from banks.models import Bank, Write
from memadmin.filtering import AddressFilters, day_of, midnight
from memadmin.paging import Order
from reviews import fact_words
from reviews.models import FactDecision

Shelf = FactDecision.Shelf

TABS = {
    "": "Retired",
    "restored": "Restored",
    "again": "Retired again",
    "gone": "Gone",
    "questions": "Questions",
}
SHELVES = {
    "": [Shelf.RETIRED, Shelf.AGAIN],
    "restored": [Shelf.RESTORED],
    "again": [Shelf.AGAIN],
    "gone": [Shelf.GONE],
}
ORDERS = {"": "Newest first", "oldest": "Oldest first"}
VIAS = [via for via in Write.Via.choices if via[0] in ("web", "api", "cli", "import", "observed")]


@dataclass(frozen=True)
class RetiredFilters(AddressFilters):
    """Empty = not asked for. Anything unknown is dropped."""

    tab: str = ""
    q: str = ""
    bank: str = ""
    who: str = ""  # a person's primary key
    via: str = ""
    origin: str = ""
    reason: str = ""
    since: str = ""  # days, both of them included
    until: str = ""
    order: str = ""

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> "RetiredFilters":
        def text(name: str) -> str:
            return str(query.get(name, "")).replace("\x00", "").strip()[:200]

        def number(name: str) -> str:
            given = text(name)
            return given if given.isascii() and given.isdigit() and len(given) < 18 else ""

        def one_of(name: str, known: Sequence[str]) -> str:
            given = text(name)
            return given if given in known else ""

        return cls(
            tab=one_of("tab", list(TABS)),
            q=text("q"),
            bank=number("bank"),
            who=number("who"),
            via=one_of("via", [value for value, _ in VIAS]),
            origin=one_of("origin", FactDecision.Origin.values),
            reason=text("reason"),
            since=day_of(text("since")),
            until=day_of(text("until")),
            order=one_of("order", list(ORDERS)),
        )

    @property
    def narrow(self) -> bool:
        """Whether not all of the tab is asked for."""
        return bool(replace(self, tab="", order="").values)

    @property
    def whole_tab(self) -> str:
        return RetiredFilters(tab=self.tab).query()

    @property
    def can_be_restored(self) -> bool:
        """Whether what is listed is in the bank, and retired there."""
        return self.tab in ("", "again")

    @property
    def shelves(self) -> list[Shelf]:
        return SHELVES.get(self.tab, [])

    @property
    def ordering(self) -> Order:
        return Order("at", descending=self.order != "oldest")

    def said(self, banks: Sequence[Bank], people: Sequence[tuple[int, str]]) -> list[tuple[str, str]]:
        """(label, value) of what is asked for, in words."""
        names = {str(pk): name for pk, name in people}
        called = {str(bank.pk): str(bank) for bank in banks}
        values = {
            "List": TABS[self.tab] if self.tab else "",
            "Text": self.q,
            "Reason": self.reason,
            "Bank": called.get(self.bank, self.bank),
            "Retired by": names.get(self.who, self.who),
            "Through": str(Write.Via(self.via).label) if self.via else "",
            "Decided": str(FactDecision.Origin(self.origin).label) if self.origin else "",
            "On or after": self.since,
            "On or before": self.until,
        }
        return [(label, value) for label, value in values.items() if value]

    def condition(self) -> Q:
        """All of it but the list and the banks: those are ranges of indexes."""
        asked = Q()
        if self.q:
            asked &= fact_words.matching(self.q)
        if self.reason:
            asked &= fact_words.reasons_matching(self.reason)
        if self.who:
            asked &= Q(user=int(self.who))
        if self.via:
            asked &= Q(via=self.via)
        if self.origin:
            asked &= Q(origin=self.origin)
        if self.since:
            asked &= Q(at__gte=midnight(self.since))
        if self.until:
            asked &= Q(at__lt=midnight(self.until) + timedelta(days=1))
        return asked

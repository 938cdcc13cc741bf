"""What a person asked the queue for; it travels in the query string from the list to the cards and back."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.db.models import Q
from django.http import QueryDict
from django.utils import timezone

from banks.access import banks_for
from memadmin.filtering import AddressFilters
from memadmin.paging import Order, Shared
from reviews import search
from reviews.models import ReviewEntry
from reviews.models.entries import BROKEN, FLAGGED, NO_FACTS, REOPENED

State = ReviewEntry.State
PENDING = State.PENDING

STATES = {
    "": "Pending",
    "held": "Held",
    "flagged": "Flagged",
    "broken": "Could not load",
    "reopened": "Opened again",
    "no-facts": "Without facts",
    "deleting": "Being deleted",
    "approved": "Approved",
    "deleted": "Deleted",
    "rejected": "Rejected",
    "decided": "Decided",
}
AGES = {
    "": "Any age",
    "soon": "Approved by time within 24 h",
    "older-1": "Older than 1 day",
    "older-3": "Older than 3 days",
    "older-7": "Older than 7 days",
    "undated": "Without a date",
}
ORDERS = {
    "": "Expires next",
    "risk": "Riskiest first",
    "oldest": "Oldest first",
    "newest": "Newest first",
    "bank": "By bank",
    "project": "By project",
    "session": "By session",
}
# What many memories share: the list has a heading for each.
SHARED: dict[str, Order] = {
    "risk": Shared("risk", descending=True),
    "bank": Shared("bank"),
    "project": Shared("project", text=True),
    "session": Shared("session", text=True),
}
UNDECIDED = {"", "held", "flagged", "broken", "reopened", "no-facts"}


@dataclass(frozen=True)
class Filters(AddressFilters):
    """Empty = not asked for. Anything unknown is dropped, never an error."""

    state: str = ""
    age: str = ""
    bank: str = ""  # primary key
    project: str = ""
    reason: str = ""
    session: str = ""
    q: str = ""
    order: str = ""

    @classmethod
    def parse(cls, query: QueryDict) -> "Filters":
        def one_of(name: str, known: dict[str, str]) -> str:
            value = query.get(name, "")
            return value if value in known else ""

        bank = query.get("bank", "")
        return cls(
            state=one_of("state", STATES),
            age=one_of("age", AGES),
            bank=bank if bank.isascii() and bank.isdigit() and len(bank) < 18 else "",
            project=query.get("project", "").replace("\x00", "")[:1000],
            reason=query.get("reason", "").replace("\x00", "")[:200],
            session=query.get("session", "").replace("\x00", "")[:300],
            q=query.get("q", "").replace("\x00", "").strip()[:200],
            order=one_of("order", ORDERS),
        )

    @property
    def narrow(self) -> bool:
        """Whether something other than all that is pending is asked for."""
        return bool(replace(self, order="").query())

    def said(self, user: Any) -> list[tuple[str, str]]:
        """(label, value) of what is asked for, in words."""
        bank = banks_for(user).filter(pk=int(self.bank)).first() if self.bank else None
        values = {
            "State": STATES[self.state] if self.state else "",
            "Age": AGES[self.age] if self.age else "",
            "Bank": str(bank or "one that you do not see") if self.bank else "",
            "Project": self.project,
            "Reason": self.reason,
            "Session": self.session,
            "Words": self.q,
        }
        return [(label, value) for label, value in values.items() if value]

    @property
    def without_search(self) -> "Filters":
        return replace(self, q="")

    @property
    def search_alone(self) -> "Filters":
        """The words among all that is pending."""
        return Filters(q=self.q)

    @property
    def undecided(self) -> "Filters":
        """The same for work: a person who undoes in the list of the decided goes on with the pending."""
        return self if self.state in UNDECIDED else replace(self, state="")

    def ordering(self) -> Order:
        if self.state not in UNDECIDED:
            return Order("decided_at", descending=True, always_dated=True)
        if self.order in SHARED:
            return SHARED[self.order]
        if self.order == "oldest":
            return Order("enqueued_at")
        return Order("enqueued_at", descending=True) if self.order == "newest" else Order("expires_at")

    @property
    def heading(self) -> str:
        """By what the rows have headings: "bank", "project", "session" or ""."""
        return self.order if self.state in UNDECIDED and self.order in ("bank", "project", "session") else ""

    @property
    def states(self) -> list[State]:
        """The states that the list may hold: each is a range of its own in the indexes (memadmin.paging.Split)."""
        decided = [State.APPROVED, State.DELETING, State.DELETED, State.REJECTED]
        if self.state == "decided":
            return decided
        return [state for state in [*decided, State.HELD] if state == self.state] or [PENDING]

    def condition(self) -> Q:
        states = self.states
        return (Q(state=states[0]) if len(states) == 1 else Q(state__in=states)) & self.within()

    def within(self) -> Q:
        """Everything that is asked for but the states."""
        asked = (self.special or Q()) & self._age()
        if self.bank:
            asked &= Q(bank=int(self.bank))
        if self.project:
            asked &= Q(project=self.project)
        if self.reason:
            asked &= Q(reason=self.reason)
        if self.session:
            asked &= Q(session=self.session)
        if self.q:
            asked &= search.matching(self.q)
        return asked

    @property
    def special(self) -> Q | None:
        """What is special about the pending memories that are asked for; it has an index by bank over just these."""
        looks = {"flagged": FLAGGED, "broken": BROKEN, "reopened": REOPENED, "no-facts": NO_FACTS}
        return looks.get(self.state)

    def _age(self) -> Q:
        now = timezone.now()
        if self.age == "soon":
            return Q(expires_at__lte=now + timedelta(hours=24))
        if self.age == "undated":
            return Q(enqueued_at__isnull=True)
        if self.age:
            return Q(enqueued_at__lt=now - timedelta(days=int(self.age.removeprefix("older-"))))
        return Q()

"""What a person asks the write log for: the address of its page, and the rows that this means."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import QueryDict
from django.utils.http import urlencode

from banks import access, log_index
from banks.models import Bank, RetainItem, Write
from banks.selectors import NEEDS_A_PERSON
from memadmin.filtering import AddressFilters, day_of, midnight
from memadmin.paging import Split

State = Write.State
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
MOST_BATCHES = 400  # of one document: a session may be stored again and again
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
class LogFilters(AddressFilters):
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
        among = _with_batches(self.document) if self.document else None
        rows = Write.objects.filter(self._within(user, among))
        if self.state == "done":
            # Nearly all rows are: said so that no database takes an index by state, and then sorts them all.
            rows = rows.exclude(state__in=[state for state in State if state != State.DONE])
        elif self.state:
            split["state"] = _STATES[self.state]
            rows = rows.exclude(state=State.DONE)  # what the index is about
        listed = Listed(rows, split or None)
        # What these ask for is found by itself, not in the order of the list.
        return Listed(listed.all, None) if self.q or self.fact or self.group or among is not None else listed

    def _within(self, user: Any, among: list[int] | None) -> Q:
        """Everything but the state and the bank."""
        asked = Q()
        for name, value in (("kind", self.kind), ("via", self.via), ("group", self.group)):
            if value:
                asked &= Q(**{name: value})
        if self.who:
            asked &= Q(actor=user.pk if self.who == "me" else int(self.who))
        if self.document:
            asked &= Q(document_hash=Write.hash_of(self.document)) if among is None else Q(pk__in=among)
        if self.since:
            asked &= Q(occurred_at__gte=midnight(self.since))
        if self.until:
            asked &= Q(occurred_at__lt=midnight(self.until) + timedelta(days=1))
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
        since=checked("since", bool(day_of(of("since"))), f"“{of('since', 20)}” is no day; write 2026-03-16."),
        until=checked("until", bool(day_of(of("until"))), f"“{of('until', 20)}” is no day; write 2026-03-16."),
        q=words,
    )
    return Asked(filters, refused, page=of("page"), tidy=all(value for _, values in query.lists() for value in values))


def _with_batches(document_id: str) -> list[int] | None:
    """Rows of this document and the batches of the retain queue in which it was; None where it was in none."""
    key = Write.hash_of(document_id)
    sent = RetainItem.objects.filter(document_hash=key, write__isnull=False).order_by("-pk")
    if not (batches := list(sent.values_list("write", flat=True)[:MOST_BATCHES])):
        return None
    own = Write.objects.filter(bank__in=Bank.objects.order_by().values("pk"), document_hash=key).order_by("-pk")
    return [*batches, *own.values_list("pk", flat=True)[:MOST_BATCHES]]


def _is_key(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 18


def _is_uuid(text: str) -> bool:
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False

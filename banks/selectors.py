"""What is read for pages about banks and their write log."""

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Any

from django.db.models import Q, QuerySet
from django.http import Http404, QueryDict
from django.utils.http import urlencode

from banks import access, writes
from banks.models import Bank, Role, Server, Write
from memadmin.counting import Count, count_of
from memadmin.paging import Cursor, Order, Page, page_of

State = Write.State
NEEDS_A_PERSON = [State.ATTENTION, State.CHANGED]
LOG_ORDER = Order("occurred_at", descending=True)
PAGE_SIZE = 50
STATES = {
    "": "Everything",
    "attention": "Needs a person",
    "flight": "In flight",
    "done": "Done",
    "cancelled": "Cancelled",
}
# What a list row never shows.
HEAVY = ["params", "fact_ids"]


@dataclass(frozen=True)
class Look:
    """How a kind of write is shown."""

    glyph: str
    tone: str
    verb: str


@dataclass(frozen=True)
class LogFilters:
    """Empty = not asked for. Anything unknown is dropped."""

    state: str = ""
    kind: str = ""
    bank: str = ""
    who: str = ""  # "me"
    q: str = ""

    @classmethod
    def parse(cls, query: QueryDict) -> "LogFilters":
        state, bank = query.get("state", ""), query.get("bank", "")
        return cls(
            state=state if state in STATES else "",
            kind=query.get("kind", "").replace("\x00", "")[:30],
            bank=bank if bank.isascii() and bank.isdigit() and len(bank) < 18 else "",
            who="me" if query.get("who") == "me" else "",
            q=query.get("q", "").replace("\x00", "").strip()[:200],
        )

    def query(self, **changes: str) -> str:
        values = replace(self, **changes)
        asked = {f.name: value for f in fields(self) if (value := getattr(values, f.name))}
        return f"?{urlencode(asked)}" if asked else ""

    @property
    def narrow(self) -> bool:
        return bool(self.query())

    def condition(self, user: Any) -> Q:
        asked = {
            "": Q(),
            "attention": Q(state__in=NEEDS_A_PERSON),
            "flight": Q(state__in=Write.OPEN),
            "done": Q(state=State.DONE),
            "cancelled": Q(state=State.CANCELLED),
        }[self.state]
        if self.kind:
            asked &= Q(kind=self.kind)
        if self.bank:
            asked &= Q(bank=int(self.bank))
        if self.who:
            asked &= Q(actor=user)
        if self.q:
            asked &= Q(document_id__icontains=self.q) | Q(error_text__icontains=self.q)
        return asked


def writes_seen_by(user: Any) -> QuerySet[Write]:
    """The one base of the log and of every count over it."""
    banks = access.bank_ids_for(user)
    return Write.objects.all() if banks is None else Write.objects.filter(bank__in=banks)


def write_page(user: Any, filters: LogFilters, cursor: Cursor | None) -> Page[Write]:
    rows = writes_seen_by(user).filter(filters.condition(user)).select_related("bank").defer(*HEAVY)
    page = page_of(rows, LOG_ORDER, cursor, PAGE_SIZE)
    mark_come_backs(page.rows)
    return page


def mark_come_backs(rows: Iterable[Write]) -> None:
    """Sets `came_back` to the row that saw what a delete removed in the bank again, else None. One query."""
    deletes = {row.pk: row for row in rows if row.kind == "delete" and row.state == State.DONE}
    seen = Write.objects.filter(kind="reopen", undo_of__in=deletes).values_list("undo_of", "pk")
    found = dict(seen) if deletes else {}
    for row in deletes.values():
        row.came_back = found.get(row.pk)


def write_count(user: Any, filters: LogFilters) -> Count:
    return count_of(writes_seen_by(user).filter(filters.condition(user)))


def attention_count(user: Any) -> Count:
    """Writes that wait for a person."""
    return write_count(user, LogFilters(state="attention"))


def get_write(user: Any, pk: int, role: Role = Role.VIEWER) -> Write:
    """The row, when this person has at least this role on its bank: 404 for strangers, 403 for readers."""
    found = Write.objects.select_related("bank__server", "before", "request", "after", "undo_of").filter(pk=pk).first()
    if found is None:
        raise Http404("No such row.")
    access.require(user, found.bank, role)
    mark_come_backs([found])
    return found


def kinds_seen_by(user: Any) -> list[str]:
    return sorted(writes_seen_by(user).order_by().values_list("kind", flat=True).distinct())


def banks_seen_by(user: Any) -> list[Bank]:
    return list(access.banks_for(user).order_by("name", "id")[:300])


def writable_banks(user: Any) -> set[int]:
    """Primary keys of the banks on which this person may act."""
    return set(access.banks_for(user, Role.REVIEWER).values_list("pk", flat=True))


def look_of(kind: str) -> Look:
    """A kind that nobody registered is shown by its name."""
    try:
        found = writes.get(kind)
    except KeyError:
        return Look("?", "none", kind)
    return Look(found.glyph, found.tone, found.verb)


def servers_seen_by(user: Any) -> list[Server]:
    """The servers behind the banks this person may see, by name."""
    if getattr(user, "is_superuser", False):
        return list(Server.objects.all()[:50])
    seen = Q(banks__in=access.bank_ids_for(user) or []) | Q(memberships__user=user)
    return list(Server.objects.filter(seen).distinct()[:50])

"""The archive: facts that were retired, of all banks a person may see, and what became of them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from banks.access import bank_ids_for, banks_for
from banks.models import Bank, Role, Write
from memadmin.accounts.models import User
from memadmin.counting import CAP, Count, count_of, counts_of
from memadmin.paging import Cursor, Order, Page, Split, page_of
from reviews.curation.reapply import open_questions
from reviews.models import FactDecision, Reapplication, ReviewEntry
from reviews.selectors.retired_filters import SHELVES, TABS, RetiredFilters

PAGE_SIZE = 50
PEOPLE_SHOWN = 200
ASKED_FIRST = Order("created", descending=True)
# Servers are asked every minute; what is older was not answered.
FRESH = timedelta(minutes=10)


@dataclass(frozen=True)
class Tab:
    label: str
    query: str
    current: bool
    count: Count


@dataclass
class RetiredRow:
    decision: FactDecision
    entry: int | None = None
    write: Write | None = None  # under way, or in need of a person

    @property
    def why(self) -> str:
        """Why it was refused; that it is none of one the list says already."""
        if self.write is None or self.write.is_open:
            return ""
        return self.write.error_text.removeprefix("Restored 0 of 1. ")


@dataclass(frozen=True)
class QuestionRow:
    question: Reapplication
    entry: int | None


@dataclass(frozen=True)
class Told:
    """What the servers say: the sum over the banks that could be read, the oldest reading, and the others."""

    total: int
    banks: int
    read_at: datetime | None
    unknown: list[Bank]


def retired_seen_by(user: Any, filters: RetiredFilters, role: Role = Role.VIEWER) -> QuerySet[FactDecision]:
    """The one base of the archive, of its counts and of what is done to all that match."""
    rows, split = _ranges(user, filters, role)
    return rows.filter(**{f"{name}__in": values for name, values in split.items()})


def _ranges(user: Any, filters: RetiredFilters, role: Role = Role.VIEWER) -> tuple[QuerySet[FactDecision], Split]:
    """As the ranges that the indexes have in the order of the list: by shelf, and by bank or person."""
    split: dict[str, Any] = {"shelf": filters.shelves}
    banks = bank_ids_for(user, role)
    rows = FactDecision.objects.filter(filters.condition())
    if filters.bank:
        split["bank"] = [pk for pk in [int(filters.bank)] if banks is None or pk in banks]
    elif banks is not None and not filters.who:
        split["bank"] = banks
    elif banks is not None:
        rows = rows.filter(bank__in=banks)
    return rows, split


def retired_page(
    user: Any, filters: RetiredFilters, cursor: Cursor | None, size: int = PAGE_SIZE
) -> Page[FactDecision]:
    rows, split = _ranges(user, filters)
    return page_of(rows.select_related("bank"), filters.ordering, cursor, size, split)


def retired_count(user: Any, filters: RetiredFilters) -> Count:
    return count_of(retired_seen_by(user, filters))


def tabs(user: Any, filters: RetiredFilters) -> list[Tab]:
    """With how many of the chosen bank are in each."""
    asked = {tab: RetiredFilters(tab=tab, bank=filters.bank) for tab in TABS}
    found = counts_of(
        [(retired_seen_by(user, asked[tab]), CAP) for tab in SHELVES] + [(_questions(user, filters), CAP)]
    )
    counts = dict(zip([*SHELVES, "questions"], found, strict=True))
    return [Tab(label, asked[tab].query(), filters.tab == tab, counts[tab]) for tab, label in TABS.items()]


def with_news(decisions: Iterable[FactDecision]) -> list[RetiredRow]:
    """The rows of a page with the card of each and what is under way. Three queries."""
    decisions = list(decisions)
    cards = _cards(decisions)
    acts = under_way(decisions, [*Write.OPEN, Write.State.ATTENTION])
    return [
        RetiredRow(each, cards.get((each.bank_id, each.document_hash)), acts.get((each.bank_id, each.fact_id)))
        for each in decisions
    ]


def _cards(decisions: Iterable[FactDecision]) -> dict[tuple[int, str], int]:
    """{(bank, hash of the document): its entry}"""
    wanted = {(each.bank_id, each.document_hash) for each in decisions if each.document_hash}
    entries = ReviewEntry.objects.filter(
        bank__in={bank for bank, _ in wanted}, document_hash__in={d for _, d in wanted}
    )
    return {(int(bank), document): pk for bank, document, pk in entries.values_list("bank", "document_hash", "pk")}


def under_way(
    decisions: Iterable[FactDecision], states: Sequence[str] = tuple(Write.OPEN)
) -> dict[tuple[int, str], Write]:
    """{(bank, fact id): the latest row about it in one of the states}, also one that applies it to another fact."""
    decisions = list(decisions)
    rows = Write.objects.filter(
        bank__in={each.bank_id for each in decisions},
        document_hash__in={each.document_hash for each in decisions},
        state__in=states,
    )
    found = rows.only("kind", "state", "fact_ids", "bank", "error_text").order_by("pk")
    acts = {(write.bank_id, str(fact_id)): write for write in found for fact_id in write.fact_ids}
    sent = Reapplication.objects.filter(
        decision__in=[each.pk for each in decisions], state=Reapplication.State.SENT, write__state__in=states
    )
    for pair in sent.select_related("write", "decision").order_by("pk"):
        if pair.write is not None and pair.decision.fact_id == pair.replaces:
            acts[pair.decision.bank_id, pair.decision.fact_id] = pair.write
    return acts


def people_of(user: Any) -> list[tuple[int, str]]:
    """Who has decided about something that the archive lists: one look at an index for each person."""
    banks = bank_ids_for(user)
    listed = [shelf for shelves in SHELVES.values() for shelf in shelves]
    theirs = FactDecision.objects.filter(shelf__in=listed, user=OuterRef("pk"))
    people = User.objects.filter(Exists(theirs if banks is None else theirs.filter(bank__in=banks)))
    return sorted(((each.pk, each.display_name) for each in people[:PEOPLE_SHOWN]), key=lambda row: row[1].lower())


def told_by_servers(user: Any, banks: Iterable[int] | None = None) -> Told:
    """`banks`: of these alone."""
    rows = banks_for(user).filter(gone_since=None).only("name", "bank_id", "retired_count", "counted_at")
    known = list(rows if banks is None else rows.filter(pk__in=list(banks)))
    fresh = timezone.now() - max(FRESH, 3 * timedelta(seconds=settings.NUMBERS_SECONDS))
    read = [bank for bank in known if bank.retired_count is not None and bank.counted_at and bank.counted_at >= fresh]
    return Told(
        total=sum(bank.retired_count or 0 for bank in read),
        banks=len(read),
        read_at=min((bank.counted_at for bank in read if bank.counted_at), default=None),
        unknown=[bank for bank in known if bank not in read],
    )


# ── questions ────────────────────────────────────────────────────────────────────────────────────────────────


def _questions(user: Any, filters: RetiredFilters) -> QuerySet[Reapplication]:
    banks = bank_ids_for(user)
    asked = open_questions()
    if banks is not None:
        asked = asked.filter(decision__bank__in=banks)
    if filters.bank:
        asked = asked.filter(decision__bank=int(filters.bank))
    if filters.q:
        asked = asked.filter(decision__in=FactDecision.objects.filter(RetiredFilters(q=filters.q).condition()))
    return asked


def question_page(user: Any, filters: RetiredFilters, cursor: Cursor | None) -> tuple[list[QuestionRow], Page[Any]]:
    """Decisions that wait for an answer, of documents with a card and without."""
    rows = _questions(user, filters).select_related(
        "decision__bank", "decision__extracted", "decision__current", "text"
    )
    page = page_of(rows, ASKED_FIRST, cursor, PAGE_SIZE)
    cards = _cards([each.decision for each in page.rows])
    return [
        QuestionRow(each, cards.get((each.decision.bank_id, each.decision.document_hash))) for each in page.rows
    ], page

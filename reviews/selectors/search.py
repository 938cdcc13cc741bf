"""Search in what is stored here: memories, decided facts and rows of the log, of all banks a person may see."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet

from banks import access, log_index, selectors, selectors_log
from banks.log_filters import LogFilters
from banks.models import Bank, Server, Write
from memadmin import fulltext
from memadmin.counting import Count, counts_of
from memadmin.paging import Cursor, Order, Page, Split, page_of
from memadmin.terms import Phrase
from reviews import fact_words, search
from reviews.models import FactDecision, ReviewEntry
from reviews.selectors import queue
from reviews.selectors.search_filters import KINDS, OWN, SearchFilters
from reviews.selectors.search_hits import Hit, fact_hits, memory_hits, row_hits

PAGE_SIZE = 25
FIRST = 5  # of each kind, where all kinds are shown
CAP = 1_000


@dataclass(frozen=True)
class Source:
    """One kind of rows: by which words they are found, and in which order they are walked.

    `ranges`: the values of the first column of the index that has this order, for words that very many rows have.
    """

    rows: QuerySet[Any]
    words: Callable[[str], Q]
    order: Order
    hits: Callable[[Sequence[Any], Sequence[Phrase]], Iterator[Hit]]
    ranges: Split | None = None


def _sources() -> dict[str, Source]:
    memories = ReviewEntry.objects.prefetch_related("bank__server").defer(*queue.HEAVY)
    facts = FactDecision.objects.prefetch_related("bank__server")
    rows = Write.objects.prefetch_related("bank__server", "token")
    at = Order("at", descending=True)
    return {
        "memories": Source(
            memories, search.matching, queue.NEWEST, memory_hits, {"state": list(ReviewEntry.State.values)}
        ),
        "facts": Source(facts, fact_words.matching, at, fact_hits, {"shelf": list(FactDecision.Shelf.values)}),
        "log": Source(rows, log_index.matching, selectors_log.LOG_ORDER, row_hits),
    }


@dataclass(frozen=True)
class Found:
    """Of one kind. `hits` may be fewer than `page.rows`: what is only found by an erased text is left out."""

    kind: str
    label: str
    query: str
    count: Count
    page: Page[Any]
    hits: list[Hit]


class Search:
    """One search by one person: its words are looked up once for each kind, whatever is shown of it."""

    def __init__(self, user: Any, filters: SearchFilters) -> None:
        self.filters = filters
        self.phrases = filters.phrases
        banks = filters.banks(user)
        self._rows: dict[str, tuple[Source, QuerySet[Any], Split | None]] = {}
        for kind, source in _sources().items() if self.phrases else ():
            words = source.words(filters.q)
            rows = source.rows.filter(words & filters.between(source.order.field))
            rows = rows if banks is None else rows.filter(bank__in=banks)
            self._rows[kind] = (source, rows, None if fulltext.names_rows(words) else source.ranges)

    def counts(self) -> dict[str, Count]:
        """How many rows of each kind. One query."""
        asked = [(rows, CAP) for _, rows, _ in self._rows.values()]
        found = counts_of(asked) if asked else []
        return {**dict.fromkeys(OWN, Count(0)), **dict(zip(self._rows, found, strict=True))}

    def not_indexed_yet(self) -> Count | None:
        """How many rows of the log it may miss."""
        asked = self.filters.kind in ("", "log") and self.phrases
        return selectors_log.not_indexed_yet(LogFilters(q=self.filters.q)) if asked else None

    def page(self, kind: str, cursor: Cursor | None, size: int = PAGE_SIZE) -> tuple[Page[Any], list[Hit]]:
        if kind not in self._rows:
            return Page([], "", ""), []
        source, rows, split = self._rows[kind]
        page = page_of(rows, source.order, cursor, size, split)
        return page, list(source.hits(page.rows, self.phrases))

    def found(self, cursor: Cursor | None) -> tuple[dict[str, Count], list[Found]]:
        """What the page shows: of one kind a page, of all kinds the first few of each that has any."""
        counts, asked = self.counts(), self.filters.kind
        kinds = [asked] if asked in OWN else [] if asked else [kind for kind in OWN if counts[kind]]
        shown = []
        for kind in kinds:
            page, hits = self.page(kind, cursor if asked else None, PAGE_SIZE if asked else FIRST)
            shown.append(Found(kind, KINDS[kind], self.filters.of_kind(kind), counts[kind], page, hits))
        return counts, shown


@dataclass(frozen=True)
class Options:
    """What the selects offer; what is asked for is among it."""

    banks: list[Bank]
    servers: list[Server]


def options(user: Any, filters: SearchFilters) -> Options:
    banks = selectors.banks_seen_by(user)
    if filters.bank and all(bank.pk != int(filters.bank) for bank in banks):
        banks += access.banks_for(user).filter(pk=int(filters.bank))
    return Options(banks, selectors.servers_seen_by(user))

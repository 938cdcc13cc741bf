"""The entities of a bank as its server lists them now, and the facts that speak of one.

Servers cannot search among entities, so a search looks through the list itself, as far as time allows, and says so.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from uuid import UUID

from django.utils.http import urlencode

from banks.hindsight import Entity, HindsightClient
from banks.models import Bank
from banks.reading import QUICK_SECONDS, Unread, reading
from reviews.selectors.bank_fact_filters import speaks_of
from reviews.selectors.bank_facts import writes_of
from reviews.selectors.facts import FactRow, fact_row, with_news
from reviews.services.document_facts import as_row

PAGE_SIZE = 100
LAST_PAGE = 100_000
SEARCH_PAGE, MOST_SEARCHED = 1_000, 10_000
SEARCH_SECONDS = 2.0  # after which no further page is asked for
FACTS_SHOWN = 50
NO_ID = "What was asked for is no id of an entity."


@dataclass(frozen=True)
class EntityFilters:
    """Empty = not asked for. `page` counts from 1, and there is one of a search."""

    q: str = ""
    page: int = 1

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> "EntityFilters":
        q = query.get("q", "").replace("\x00", "").strip()[:200]
        return cls(q=q, page=1 if q else page_number(query))

    def query(self, **changes: str | int) -> str:
        """ "?…" with what differs from a list without filters, or ""."""
        wanted, plain = replace(self, **changes), EntityFilters()  # type: ignore[arg-type]  # names of our own
        values = {each.name: getattr(wanted, each.name) for each in fields(wanted)}
        asked = {name: value for name, value in values.items() if value != getattr(plain, name)}
        return f"?{urlencode(asked)}" if asked else ""


@dataclass(frozen=True)
class EntitySheet:
    """`rows` None: could not be read. total: of the bank; looked_at: among how many was searched; found: of these."""

    rows: list[Entity] | None
    total: int = 0
    looked_at: int = 0
    found: int = 0
    unread: Unread | None = None

    @property
    def pages(self) -> int:
        return max(-(-self.total // PAGE_SIZE), 1)

    @property
    def whole(self) -> bool:
        return self.looked_at >= self.total


@dataclass(frozen=True)
class EntityPage:
    """One entity with a page of its facts, both None where they could not be read.

    ignored: the server answered with facts that do not speak of it, or does not tell it from others.
    """

    entity: Entity | None
    facts: list[FactRow] | None
    total: int = 0
    ignored: bool = False
    unread: Unread | None = None

    @property
    def pages(self) -> int:
        return max(-(-self.total // FACTS_SHOWN), 1)


def page_number(query: Mapping[str, str]) -> int:
    page = query.get("page", "")
    number = int(page) if page.isascii() and page.isdigit() and len(page) < 8 else 1
    return min(max(number, 1), LAST_PAGE)


def page_of(bank: Bank, filters: EntityFilters) -> EntitySheet:
    try:
        if filters.q:
            with reading(bank, within=QUICK_SECONDS) as client:
                return _searched(client, bank, filters.q.casefold())
        with reading(bank) as client:
            page = client.list_entities(bank.bank_id, limit=PAGE_SIZE, offset=(filters.page - 1) * PAGE_SIZE)
    except Unread as unread:
        return EntitySheet(None, unread=unread)
    return EntitySheet(page.items[:PAGE_SIZE], page.total, page.total, page.total)


def entity_of(bank: Bank, entity_id: str, page: int) -> EntityPage:
    """Two quick calls."""
    try:
        asked = str(UUID(entity_id))
    except ValueError:
        return EntityPage(None, None, unread=Unread("missing", NO_ID))
    try:
        with reading(bank, within=QUICK_SECONDS) as client:
            entity = client.get_entity(bank.bank_id, asked)
            found = client.list_facts(bank.bank_id, entity_id=asked, limit=FACTS_SHOWN, offset=(page - 1) * FACTS_SHOWN)
    except Unread as unread:
        return EntityPage(None, None, unread=unread)
    ignored = bool(found.ignored_params) or not all(speaks_of(entity, fact) for fact in found.items)
    rows = with_news(bank.pk, [fact_row(as_row(fact)) for fact in found.items[:FACTS_SHOWN]], writes_of(bank))
    return EntityPage(entity, rows, found.total, ignored)


def _searched(client: HindsightClient, bank: Bank, q: str) -> EntitySheet:
    known: dict[str, Entity] = {}
    began, total = time.monotonic(), 0
    while True:
        page = client.list_entities(bank.bank_id, limit=SEARCH_PAGE, offset=len(known))
        before, total = len(known), page.total
        known.update((each.id, each) for each in page.items)
        late = time.monotonic() - began > SEARCH_SECONDS
        if len(known) >= min(total, MOST_SEARCHED) or len(known) == before or late:
            break
    found = [each for each in known.values() if q in each.name.casefold()]
    return EntitySheet(found[:PAGE_SIZE], total, len(known), len(found))

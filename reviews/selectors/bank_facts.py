"""The facts of a bank as its server lists them now: a page at a time, while a fragment waits."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

from django.utils.http import urlencode

from banks import connections
from banks.fact_kinds import seen_hash
from banks.hindsight import Fact, HindsightError, NotFound, Page
from banks.models import Bank, Write
from reviews.models import ReviewEntry
from reviews.selectors.facts import DOING, REPLACING, FactRow, fact_row, with_news
from reviews.services.document_facts import as_row

PAGE_SIZE = 50
LAST_PAGE = 100_000
CALL_SECONDS = 5.0
WRITES_LOOKED_AT = 200
STATES = {"valid": "valid", "invalidated": "retired"}
TYPES = {"": "facts and observations", "world": "world", "experience": "experience", "observation": "observations"}
NOT_ASKED = "The server does not answer just now, so it was not asked."
IGNORED = "This server does not know one of these filters: what is below is more than what was asked for."


@dataclass(frozen=True)
class BankFactFilters:
    """Empty = not asked for. Anything unknown is dropped. `page` counts from 1."""

    q: str = ""
    state: str = "valid"
    type: str = ""
    page: int = 1

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> "BankFactFilters":
        page = query.get("page", "")
        number = int(page) if page.isascii() and page.isdigit() and len(page) < 8 else 1
        state, kind = query.get("state", ""), query.get("type", "")
        return cls(
            q=query.get("q", "").replace("\x00", "").strip()[:200],
            state=state if state in STATES else "valid",
            type=kind if kind in TYPES else "",
            page=min(max(number, 1), LAST_PAGE),
        )

    def query(self, **changes: str | int) -> str:
        """ "?…" with what differs from a list without filters, or ""."""
        wanted = replace(self, **changes)  # type: ignore[arg-type]  # names and values are our own
        plain = BankFactFilters()
        values = {each.name: getattr(wanted, each.name) for each in fields(wanted)}
        asked = {name: value for name, value in values.items() if value != getattr(plain, name)}
        return f"?{urlencode(asked)}" if asked else ""

    @property
    def narrowed(self) -> bool:
        return bool(self.q or self.type or self.state != "valid")


@dataclass(frozen=True)
class BankSheet:
    """One page. `facts` None = could not be read, and `why`; `mark`: of the writes that are under way in the bank."""

    facts: list[FactRow] | None
    total: int = 0
    why: str = ""
    ignored: bool = False
    working: bool = False
    mark: str = ""
    free: bool = True

    @property
    def pages(self) -> int:
        return max(-(-self.total // PAGE_SIZE), 1)


def page_of(bank: Bank, filters: BankFactFilters) -> BankSheet:
    writes = writes_of(bank)
    mark = _mark(writes)
    if connections.paused_until(bank.server):
        return BankSheet(None, why=NOT_ASKED, mark=mark)
    try:
        with connections.talking_to(bank.server, within=CALL_SECONDS) as client:
            page = client.list_facts(
                bank.bank_id,
                state=filters.state,
                type=filters.type,
                q=filters.q,
                limit=PAGE_SIZE,
                offset=(filters.page - 1) * PAGE_SIZE,
            )
    except NotFound as error:
        gone = error.what == "bank"
        return BankSheet(None, why="There is no such bank on its server any more." if gone else str(error), mark=mark)
    except HindsightError as error:
        return BankSheet(None, why=str(error), mark=mark)
    return _sheet(bank, filters, page, writes, mark)


def mark_of(bank: Bank) -> str:
    """Another one where a write of this bank began, went on or ended; the bank is not asked."""
    return _mark(writes_of(bank))


def _sheet(bank: Bank, filters: BankFactFilters, page: Page[Fact], writes: list[Write], mark: str) -> BankSheet:
    shown = page.items[:PAGE_SIZE]
    rows = with_news(bank.pk, [fact_row(as_row(fact)) for fact in shown], writes)
    rows = _with_documents(bank, rows, {write.document_hash: write for write in writes if write.kind in REPLACING})
    other = any(fact.state != filters.state or (filters.type and fact.type != filters.type) for fact in shown)
    return BankSheet(
        facts=rows,
        total=page.total,
        ignored=other or bool(page.ignored_params) or len(page.items) > PAGE_SIZE,
        working=any(row.write and row.write.is_open for row in rows),
        mark=mark,
    )


def _with_documents(bank: Bank, rows: list[FactRow], replaced: dict[str, Write]) -> list[FactRow]:
    """The memory of each fact's document, and the write that replaces all of its facts just now."""
    hashes = {row.document_id: Write.hash_of(row.document_id) for row in rows if row.document_id}
    entries = ReviewEntry.objects.filter(bank=bank, document_hash__in=set(hashes.values()))
    known = dict(entries.order_by().values_list("document_hash", "pk"))
    return [
        replace(
            row,
            entry_id=known.get(hashes.get(row.document_id, "")),
            write=row.write or replaced.get(hashes.get(row.document_id, "")),
        )
        for row in rows
    ]


def writes_of(bank: Bank) -> list[Write]:
    """The newest that are under way, or need a person, oldest first."""
    open_ones = Write.objects.filter(bank=bank, state__in=Write.OPEN, kind__in=[*DOING, *REPLACING])
    states = [Write.State.ATTENTION, Write.State.CHANGED]
    stuck = Write.objects.filter(bank=bank, state__in=states, kind__in=DOING)
    names = ("kind", "state", "fact_ids", "document_hash", "actor_name", "via", "error_text", "occurred_at")
    found = [row for rows in (open_ones, stuck) for row in rows.only(*names).order_by("-pk")[:WRITES_LOOKED_AT]]
    return sorted(found, key=lambda write: write.pk)


def _mark(writes: list[Write]) -> str:
    return seen_hash("|".join(f"{write.pk}{write.state}" for write in writes))[:16]

"""The documents of a bank as its server lists them now: a page at a time, while a fragment waits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

from django.utils.http import urlencode

from banks.fact_kinds import seen_hash
from banks.hindsight import DocumentRow, Page
from banks.models import Bank, OperationSeen, Write
from banks.reading import Unread, reading
from memadmin.retention import RetainedItems, first_of
from reviews.models import ReviewEntry

PAGE_SIZE = 50
LAST_START = 5_000_000
TAGS_SHOWN = 12
BUSY_SHOWN = 20
BUSY_LOOKED_AT = 500
WRITES_LOOKED_AT = 200
Phase = OperationSeen.Phase
NEEDS_A_PERSON = (Write.State.ATTENTION, Write.State.CHANGED)


@dataclass(frozen=True)
class DocumentFilters:
    """Empty = not asked for. `start`: how many documents come before the page, since servers may give fewer than asked.

    `after`: stands for the last document of the page before.
    """

    q: str = ""
    tag: str = ""
    start: int = 0
    after: str = ""

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> "DocumentFilters":
        start, after = query.get("start", ""), query.get("after", "")
        number = int(start) if start.isascii() and start.isdigit() and len(start) < 8 else 0
        return cls(
            q=_sayable(query.get("q", ""))[:200],
            tag=_sayable(query.get("tag", ""))[:1_000],
            start=min(number, LAST_START),
            after=after if len(after) == len(anchor_of("")) and after.isalnum() else "",
        )

    def query(self, **changes: str | int) -> str:
        """ "?…" with what differs from a list without filters, or ""."""
        wanted, plain = replace(self, **changes), DocumentFilters()  # type: ignore[arg-type]  # names of our own
        values = {each.name: getattr(wanted, each.name) for each in fields(wanted)}
        asked = {name: value for name, value in values.items() if value != getattr(plain, name)}
        return f"?{urlencode(asked)}" if asked else ""

    @property
    def narrowed(self) -> bool:
        return bool(self.q or self.tag)


@dataclass(frozen=True)
class DocumentLine:
    """write: of the document, under way or in need of a person; operation: of the server, not ended or failed."""

    row: DocumentRow
    tags: RetainedItems[str]
    entry_id: int | None
    write: Write | None
    operation: OperationSeen | None


@dataclass(frozen=True)
class DocumentSheet:
    """One page. `lines` None: it could not be read, and `unread` says why.

    estimated: the server stopped counting; moved: documents were written or deleted since the page before was read.
    """

    lines: list[DocumentLine] | None
    unread: Unread | None = None
    total: int = 0
    estimated: bool = False
    ignored: bool = False
    moved: bool = False
    more: bool = False
    last: str = ""
    start: int = 0

    @property
    def first(self) -> int:
        """Its place in the list, from 1."""
        return self.start + 1

    @property
    def end(self) -> int:
        return self.start + len(self.lines or [])


def page_of(bank: Bank, filters: DocumentFilters) -> DocumentSheet:
    """One call. From the second page on it begins with the last document of the page before: is it still there?"""
    before = 1 if filters.start and filters.after else 0
    offset = filters.start - before
    tags = [filters.tag] if filters.tag else []
    try:
        with reading(bank) as client:
            page = client.list_documents(bank.bank_id, q=filters.q, tags=tags, limit=PAGE_SIZE + before, offset=offset)
    except Unread as unread:
        return DocumentSheet(None, unread)
    shown = page.items[before : PAGE_SIZE + before]
    end, full = filters.start + len(shown), len(shown) == PAGE_SIZE
    return DocumentSheet(
        lines=_lines(bank, shown),
        total=page.total,
        estimated=page.estimated,
        ignored=_ignored(filters, page, PAGE_SIZE + before),
        moved=bool(before) and (not page.items or anchor_of(page.items[0].id) != filters.after),
        more=bool(shown) and (end < page.total or (page.estimated and full)),
        last=anchor_of(shown[-1].id) if shown else "",
        start=filters.start,
    )


def busy_in(bank: Bank) -> RetainedItems[OperationSeen]:
    """Documents that the server works on, or failed with, each once: what it lists has none that is not stored yet.

    As it was when operations were last read. One query.
    """
    rows = bank.operations.filter(phase__in=[Phase.OPEN, Phase.FAILED]).exclude(document_id="")
    found: dict[str, OperationSeen] = {}
    for row in rows.order_by("-began", "-pk")[:BUSY_LOOKED_AT]:
        found.setdefault(row.document_id, row)
    return first_of(found.values(), BUSY_SHOWN)


def anchor_of(document_id: str) -> str:
    """Stands for a document in an address: ids are long, and not ours."""
    return seen_hash(document_id)[:16]


def _sayable(text: str) -> str:
    return text.replace("\x00", "").encode("utf-8", "replace").decode().strip()


def _ignored(filters: DocumentFilters, page: Page[DocumentRow], limit: int) -> bool:
    """Whether something came that was not asked for."""
    if page.ignored_params or len(page.items) > limit:
        return True
    if filters.tag and any(filters.tag not in row.tags for row in page.items):
        return True
    # Signs of patterns mean other signs on the server, so nothing can be said of them.
    plain = filters.q and not set(filters.q) & set("%_\\")
    return bool(plain) and any(not row.matched and not _named(row, filters.q) for row in page.items)


def _named(row: DocumentRow, q: str) -> bool:
    """Servers that search in texts say so; those that do not search in ids alone."""
    return q.casefold() in row.id.casefold()


def _lines(bank: Bank, rows: Sequence[DocumentRow]) -> list[DocumentLine]:
    """Three queries."""
    hashes = {row.id: Write.hash_of(row.id) for row in rows}
    entries = ReviewEntry.objects.filter(bank=bank, document_hash__in=hashes.values())
    known = dict(entries.order_by().values_list("document_hash", "pk"))
    states = [*Write.OPEN, *NEEDS_A_PERSON]
    acts = Write.objects.filter(bank=bank, document_hash__in=hashes.values(), state__in=states)
    names = ("kind", "state", "document_hash", "actor_name", "via", "error_text")
    latest = {write.document_hash: write for write in list(acts.only(*names).order_by("-pk")[:WRITES_LOOKED_AT])[::-1]}
    running = bank.operations.filter(phase__in=[Phase.OPEN, Phase.FAILED], document_id__in=list(hashes))
    working = {row.document_id: row for row in running.order_by("began", "pk")}
    return [
        DocumentLine(
            row=row,
            tags=first_of(row.tags, TAGS_SHOWN),
            entry_id=known.get(hashes[row.id]),
            write=latest.get(hashes[row.id]),
            operation=working.get(row.id),
        )
        for row in rows
    ]

"""The documents of a bank as its server lists them now: a page at a time, while a fragment waits."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from banks.hindsight import DocumentRow
from banks.models import Bank, OperationSeen, Write
from banks.reading import Unread, reading
from memadmin.retention import RetainedItems, first_of
from reviews.models import ReviewEntry
from reviews.selectors.places import PlacedFilters, Window, place_of, sayable

PAGE_SIZE = 50
TAGS_SHOWN = 12
BUSY_SHOWN = 20
BUSY_LOOKED_AT = 500
WRITES_LOOKED_AT = 200
Phase = OperationSeen.Phase
NEEDS_A_PERSON = (Write.State.ATTENTION, Write.State.CHANGED)


@dataclass(frozen=True)
class DocumentFilters(PlacedFilters):
    """ "" = not asked for."""

    q: str = ""
    tag: str = ""

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> "DocumentFilters":
        q, tag = query.get("q", ""), query.get("tag", "")
        return cls(q=sayable(q)[:200], tag=sayable(tag)[:1_000], **place_of(query))


@dataclass(frozen=True)
class DocumentLine:
    """write: of the document, under way or in need of a person; operation: of the server, not ended or failed."""

    row: DocumentRow
    tags: RetainedItems[str]
    entry: ReviewEntry | None  # its memory here: key and state
    write: Write | None
    operation: OperationSeen | None


@dataclass(frozen=True)
class DocumentSheet:
    """One page. `lines` None: it could not be read, and `unread` says why. ignored: more came than was asked for."""

    lines: list[DocumentLine] | None
    window: Window[DocumentRow] | None = None
    unread: Unread | None = None
    ignored: bool = False


def page_of(bank: Bank, filters: DocumentFilters) -> DocumentSheet:
    """One call."""
    tags = [filters.tag] if filters.tag else []
    try:
        with reading(bank) as client:
            window = Window.read(
                filters,
                PAGE_SIZE,
                lambda limit, offset: client.list_documents(
                    bank.bank_id, q=filters.q, tags=tags, limit=limit, offset=offset
                ),
                lambda row: row.id,
            )
    except Unread as unread:
        return DocumentSheet(None, unread=unread)
    return DocumentSheet(_lines(bank, window.rows), window, ignored=_ignored(filters, window))


def busy_in(bank: Bank) -> RetainedItems[OperationSeen]:
    """Documents that the server works on, or failed with, each once: what it lists has none that is not stored yet.

    As it was when operations were last read. One query.
    """
    rows = bank.operations.filter(phase__in=[Phase.OPEN, Phase.FAILED]).exclude(document_id="")
    found: dict[str, OperationSeen] = {}
    for row in rows.order_by("-began", "-pk")[:BUSY_LOOKED_AT]:
        found.setdefault(row.document_id, row)
    return first_of(found.values(), BUSY_SHOWN)


def _ignored(filters: DocumentFilters, window: Window[DocumentRow]) -> bool:
    """Whether something came that was not asked for."""
    page = window.page
    if page.ignored_params or window.overfull:
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
    known = {entry.document_hash: entry for entry in entries.only("document_hash", "state").order_by()}
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
            entry=known.get(hashes[row.id]),
            write=latest.get(hashes[row.id]),
            operation=working.get(row.id),
        )
        for row in rows
    ]

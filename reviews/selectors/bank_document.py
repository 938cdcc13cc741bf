"""One document of a bank, asked of its server: its text, or its chunks, its facts, its history. One call each."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Q

from banks.hindsight import Chunk, Document, DocumentEvent
from banks.models import Bank, OperationSeen, Write
from banks.paper import Paper, paper
from banks.reading import QUICK_SECONDS, Unread, reading
from memadmin.retention import RetainedItems, RetainedText, first_of, head_of
from reviews.models import ReviewEntry
from reviews.selectors.bank_facts import writes_of
from reviews.selectors.facts import fact_row, with_news
from reviews.services.document_facts import as_row

VIEWS = {"": "Text", "chunks": "Chunks", "facts": "Facts", "retired": "Retired facts", "history": "History"}
CHUNKS_SHOWN, FACTS_SHOWN, EVENTS_SHOWN = 20, 50, 50
CHUNK_SHOWN = 8_000  # bytes
VALUE_SHOWN, VALUES_SHOWN = 500, 60
WRITES_SHOWN = 10
LISTED = "The server lists this document and does not find it by its id."


@dataclass(frozen=True)
class Around:
    """What is known of the document here, whatever the server says. Three queries."""

    entry: ReviewEntry | None
    writes: list[Write]  # under way, or in need of a person, newest first
    operations: list[OperationSeen]


@dataclass(frozen=True)
class TextSheet:
    """`tags`: sorted; `more`: what else the document was stored with, cut; `types`: how many facts of each."""

    document: Document | None
    paper: Paper | None = None
    tags: tuple[str, ...] = ()
    more: RetainedItems[tuple[str, RetainedText]] | None = None
    types: tuple[tuple[str, int], ...] = ()
    unread: Unread | None = None


@dataclass(frozen=True)
class ListSheet:
    """One page of chunks, facts or events. `rows` None: could not be read; `ignored`: they are of other documents."""

    rows: list[Any] | None
    total: int = 0
    page: int = 1
    size: int = 1
    ignored: bool = False
    unread: Unread | None = None

    @property
    def pages(self) -> int:
        return max(-(-self.total // self.size), 1)


@dataclass(frozen=True)
class ChunkLine:
    chunk: Chunk
    text: RetainedText


def around(bank: Bank, document_id: str) -> Around:
    entry = ReviewEntry.objects.of_document(bank=bank, document_id=document_id).first()
    undone = [*Write.OPEN, Write.State.ATTENTION, Write.State.CHANGED]
    rows = Write.objects.filter(bank=bank, document_hash=Write.hash_of(document_id), state__in=undone)
    phases = Q(phase=OperationSeen.Phase.OPEN) | Q(phase=OperationSeen.Phase.FAILED)
    named = bank.operations.filter(phases, document_id=document_id).exclude(document_id="")
    operations = list(named.order_by("-began", "-pk")[:WRITES_SHOWN])
    return Around(entry, list(rows.order_by("-pk")[:WRITES_SHOWN]), operations)


def text_of(bank: Bank, document_id: str, part: int) -> TextSheet:
    try:
        with reading(bank) as client:
            found = client.get_document(bank.bank_id, document_id)
    except Unread as unread:
        return TextSheet(None, unread=_second_opinion(bank, document_id, unread))
    said = {**found.retain_params, "metadata": found.metadata, "observation_scopes": found.observation_scopes}
    there = ((name, value) for name, value in said.items() if value not in (None, "", [], {}) and name != "tags")
    more = first_of(((str(name), head_of(str(value), VALUE_SHOWN)) for name, value in there), VALUES_SHOWN)
    types = tuple((kind, count) for kind, count in sorted(found.facts_by_type.items()) if count)
    return TextSheet(found, paper(found.text, part), tuple(sorted(set(found.tags))), more, types)


def chunks_of(bank: Bank, document_id: str, page: int) -> ListSheet:
    try:
        with reading(bank) as client:
            found = client.list_chunks(bank.bank_id, document_id, limit=CHUNKS_SHOWN, offset=(page - 1) * CHUNKS_SHOWN)
    except Unread as unread:
        return ListSheet(None, unread=_second_opinion(bank, document_id, unread))
    lines = [ChunkLine(chunk, head_of(chunk.text, CHUNK_SHOWN)) for chunk in found.items[:CHUNKS_SHOWN]]
    return ListSheet(lines, found.total, page, CHUNKS_SHOWN)


def facts_of(bank: Bank, document_id: str, page: int, *, retired: bool) -> ListSheet:
    state, offset = "invalidated" if retired else "valid", (page - 1) * FACTS_SHOWN
    try:
        with reading(bank) as client:
            found = client.list_facts(
                bank.bank_id, document_id=document_id, state=state, limit=FACTS_SHOWN, offset=offset
            )
    except Unread as unread:
        return ListSheet(None, unread=unread)
    if found.ignored_params or any(fact.document_id != document_id for fact in found.items):
        return ListSheet([], 0, page, FACTS_SHOWN, ignored=True)
    ignored = any(fact.state != state for fact in found.items)
    rows = with_news(bank.pk, [fact_row(as_row(fact)) for fact in found.items[:FACTS_SHOWN]], writes_of(bank))
    return ListSheet(rows, found.total, page, FACTS_SHOWN, ignored)


def history_of(bank: Bank, document_id: str, page: int) -> ListSheet:
    """Servers before 1.1.0 have none, and a document that nothing happened to has an empty one."""
    try:
        with reading(bank) as client:
            found = client.document_history(
                bank.bank_id, document_id, limit=EVENTS_SHOWN, offset=(page - 1) * EVENTS_SHOWN
            )
    except Unread as unread:
        return ListSheet(None, unread=unread)
    # They are counted in operations, and one of these may be several events.
    return ListSheet(list[DocumentEvent](found.items), found.total, page, EVENTS_SHOWN)


def _second_opinion(bank: Bank, document_id: str, unread: Unread) -> Unread:
    """A document that is not found is gone only when the list has none, either."""
    if unread.face not in ("missing", "lost"):
        return unread
    try:
        with reading(bank, within=QUICK_SECONDS) as client:
            listed = client.find_document(bank.bank_id, document_id)
    except Unread as other:
        return other
    return unread if listed is None else Unread("unreachable", LISTED)

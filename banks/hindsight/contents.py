"""What else a bank holds: the pieces a document is read in, what happened to it, and the names that facts speak of."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from banks.hindsight import errors, fields, ids
from banks.hindsight.calls import PAGE, Calls
from banks.hindsight.fields import Row
from banks.hindsight.shapes import Page

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a document's text, as facts are drawn from it. `number` counts from 0."""

    id: str
    document_id: str
    number: int
    text: str

    @classmethod
    def parse(cls, row: Row) -> "Chunk":
        return cls(
            id=fields.required(row, "chunk_id"),
            document_id=fields.text(row, "document_id"),
            number=fields.number(row, "chunk_index"),
            text=fields.text(row, "chunk_text"),
        )


@dataclass(frozen=True, slots=True)
class DocumentEvent:
    """Something that happened to the facts of a document. `kind`: the server's word, such as "fact_invalidated".

    Counts are of facts, and of the observations made from them. A plain retain leaves no event.
    """

    kind: str
    document_id: str
    at: datetime | None
    operation_id: str
    fact_id: str
    facts_added: int
    facts_removed: int
    observations_created: int
    observations_updated: int
    observations_removed: int

    @classmethod
    def parse(cls, row: Row) -> "DocumentEvent":
        return cls(
            kind=fields.required(row, "kind"),
            document_id=fields.text(row, "document_id"),
            at=fields.when(row, "created_at"),
            operation_id=fields.text(row, "operation_id"),
            fact_id=fields.text(row, "fact_id"),
            facts_added=fields.number(row, "facts_added"),
            facts_removed=fields.number(row, "facts_removed"),
            observations_created=_count(row, "observations_created"),
            observations_updated=_count(row, "observations_updated"),
            observations_removed=_count(row, "observations_removed"),
        )


@dataclass(frozen=True, slots=True)
class Entity:
    """A name that facts speak of. `mentions`: how often, as the server counts."""

    id: str
    name: str
    mentions: int
    first_seen: datetime | None
    last_seen: datetime | None

    @classmethod
    def parse(cls, row: Row) -> "Entity":
        return cls(
            id=fields.required(row, "id"),
            name=fields.text(row, "canonical_name"),
            mentions=fields.number(row, "mention_count"),
            first_seen=fields.when(row, "first_seen"),
            last_seen=fields.when(row, "last_seen"),
        )


class ContentCalls(Calls):
    def list_chunks(self, bank_id: str, document_id: str, *, limit: int = PAGE, offset: int = 0) -> Page[Chunk]:
        """In their order. `limit` is 1 to 1000. BadAnswer when the server answers for another document."""
        path = ids.document_path(self._namespace, bank_id, document_id) + b"/chunks"
        return self._page_about(path, document_id, Chunk.parse, limit, offset)

    def document_history(
        self, bank_id: str, document_id: str, *, limit: int = PAGE, offset: int = 0
    ) -> Page[DocumentEvent]:
        """Newest first, also of a document that was deleted. `limit` and `offset` count operations, not events.

        Servers before 1.1.0 have none: there it is NotFound ("document" or "route") whatever the id.
        """
        path = ids.document_path(self._namespace, bank_id, document_id) + b"/history"
        return self._page_about(path, document_id, DocumentEvent.parse, limit, offset)

    def list_entities(self, bank_id: str, *, limit: int = PAGE, offset: int = 0) -> Page[Entity]:
        """Those spoken of most first. Servers cannot search among them."""
        return self._page(self._bank(bank_id, "entities"), "items", Entity.parse, limit=limit, offset=offset)

    def get_entity(self, bank_id: str, entity_id: str) -> Entity:
        """Invalid for what is no UUID."""
        return self._get(ids.entity_path(self._namespace, bank_id, entity_id), Entity.parse)

    def _page_about(
        self, path: bytes, document: str, parse: Callable[[Any], Item], limit: int, offset: int
    ) -> Page[Item]:
        page = self._page(path, "items", parse, limit=limit, offset=offset)
        if any(getattr(each, "document_id", "") not in ("", document) for each in page.items):
            about: dict[str, Any] = {"method": "GET", "path": path.decode("ascii"), "status": 200}
            raise errors.BadAnswer("The server answered for another document.", **about)
        return page


def _count(row: Row, key: str) -> int:
    """Of a sample: how many there are in all, and the ids of a few."""
    value = row.get(key)
    return fields.number(value, "count") if isinstance(value, dict) else 0

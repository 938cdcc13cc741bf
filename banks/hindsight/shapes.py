"""What the calls give back: frozen values, parsed once at the edge.

List and detail answers name the same things differently (`fact_type` / `type`, `entities` as a comma string / as a
list), and versions 0.9.1 and 1.1.0 differ in what they send; here they become one shape. Missing optional fields get
their empty value, a missing id is a `ShapeError`. Times are aware datetimes in UTC, None when absent.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from banks.hindsight import fields
from banks.hindsight.fields import Row, ShapeError

Item = TypeVar("Item")

HASH_LENGTH = 64  # a sha256; longer ones are compared by their beginning


@dataclass(frozen=True, slots=True)
class Version:
    api_version: str
    features: dict[str, bool]

    @classmethod
    def parse(cls, row: Row) -> "Version":
        features = row.get("features")
        flags = {str(k): v for k, v in features.items() if isinstance(v, bool)} if isinstance(features, dict) else {}
        return cls(api_version=fields.required(row, "api_version"), features=flags)


@dataclass(frozen=True, slots=True)
class Health:
    healthy: bool
    text: str

    @classmethod
    def parse(cls, row: Row) -> "Health":
        text = fields.required(row, "status")
        return cls(healthy=text == "healthy", text=text)


@dataclass(frozen=True, slots=True)
class Page(Generic[Item]):
    """One page. `total` counts the filtered set; `ignored_params` are filters that the server did not apply.

    estimated: the server stopped counting, so there are at least so many. counted: it said how many; else `total` is
    how many came, and only a page without anything new is the end.
    """

    items: list[Item]
    total: int
    ignored_params: tuple[str, ...] = ()
    estimated: bool = False
    counted: bool = True

    @classmethod
    def parse(cls, row: Row, key: str, parse: Callable[[Row], Item], ignored: tuple[str, ...]) -> "Page[Item]":
        rows = row.get(key)
        if not isinstance(rows, list):
            raise ShapeError(f"no list {key!r} in the answer")
        items = [parse(fields.mapping(each)) for each in rows]
        estimated = row.get("total_is_estimate") is True
        total = fields.number(row, "total", None)
        return cls(items, len(items) if total is None else total, ignored, estimated, total is not None)

    def ends(self, offset: int) -> bool:
        """Whether nothing can come after so many rows."""
        return not self.items or (self.counted and offset >= self.total)


@dataclass(frozen=True, slots=True)
class BankRow:
    bank_id: str
    name: str
    mission: str
    fact_count: int
    last_document_at: datetime | None
    last_write_at: datetime | None
    created_at: datetime | None
    updated_at: datetime | None

    @classmethod
    def parse(cls, row: Row) -> "BankRow":
        return cls(
            bank_id=fields.required(row, "bank_id"),
            name=fields.text(row, "name"),
            mission=fields.text(row, "mission"),
            fact_count=fields.number(row, "fact_count"),
            last_document_at=fields.when(row, "last_document_at"),
            last_write_at=fields.when(row, "last_write_at"),
            created_at=fields.when(row, "created_at"),
            updated_at=fields.when(row, "updated_at"),
        )


@dataclass(frozen=True, slots=True)
class BankConfig:
    """`values`: all settings as they hold for the bank; `overrides`: those that are its own."""

    values: dict[str, Any]
    overrides: dict[str, Any]

    @classmethod
    def parse(cls, row: Row) -> "BankConfig":
        return cls(dict(fields.mapping(row.get("config"))), dict(fields.mapping(row.get("overrides"))))


@dataclass(frozen=True, slots=True)
class BankStats:
    """Counters as the server keeps them. Retired facts are counted by no server: use `count_facts`.

    `pending_consolidation`: None where the server has no such counter.
    """

    documents: int
    facts_by_type: dict[str, int]
    pending_operations: int
    failed_operations: int
    operations_by_status: dict[str, int]
    pending_consolidation: int | None
    last_write_at: datetime | None

    @classmethod
    def parse(cls, row: Row) -> "BankStats":
        if "total_documents" not in row:
            raise ShapeError("no total_documents in the answer")
        return cls(
            documents=fields.number(row, "total_documents"),
            facts_by_type=fields.counts(row, "nodes_by_fact_type"),
            pending_operations=fields.number(row, "pending_operations"),
            failed_operations=fields.number(row, "failed_operations"),
            operations_by_status=fields.counts(row, "operations_by_status"),
            pending_consolidation=fields.number(row, "pending_consolidation", None),
            last_write_at=fields.when(row, "last_memory_write_at"),
        )

    @property
    def facts(self) -> int:
        return min(sum(self.facts_by_type.values()), fields.LARGEST)


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A document as lists show it: everything but its text. `text_length` counts characters.

    matched: in which of its fields the server found what was searched for; servers before 1.1.0 do not say.
    """

    id: str
    content_hash: str
    created_at: datetime | None
    updated_at: datetime | None
    text_length: int
    fact_count: int
    retain_params: dict[str, Any]
    metadata: dict[str, str]
    tags: list[str]
    matched: tuple[str, ...] = ()

    @classmethod
    def parse(cls, row: Row) -> "DocumentRow":
        matched = tuple(fields.texts(row, "matched_fields"))
        return cls(text_length=fields.number(row, "text_length"), matched=matched, **_document_fields(row))


@dataclass(frozen=True, slots=True)
class Document:
    """A document with its text. `fact_count` leaves out retired facts; `retain_params` are those it was stored with."""

    id: str
    text: str
    content_hash: str
    created_at: datetime | None
    updated_at: datetime | None
    fact_count: int
    facts_by_type: dict[str, int]
    retain_params: dict[str, Any]
    metadata: dict[str, str]
    tags: list[str]
    observation_scopes: Any = None

    @classmethod
    def parse(cls, row: Row) -> "Document":
        text = row.get("original_text")
        if not isinstance(text, str):
            raise ShapeError("the answer has no text; the server may be set to keep none")
        return cls(
            text=text,
            facts_by_type=fields.counts(row, "nodes_by_fact_type"),
            observation_scopes=row.get("observation_scopes"),
            **_document_fields(row),
        )


@dataclass(frozen=True, slots=True)
class Deleted:
    """`units_deleted` counts live facts as the server said; retired ones and observations go too, uncounted."""

    units_deleted: int

    @classmethod
    def parse(cls, row: Row) -> "Deleted":
        if row.get("success") is not True:
            raise ShapeError("the server did not say that it deleted")
        return cls(units_deleted=fields.number(row, "memory_units_deleted", fields.number(row, "deleted_count")))


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact or an observation. `state` is "valid" or "invalidated"; observations have no document.

    `proof_count` and `updated_at` come with lists only (None from `get_fact` and `patch_fact`).
    """

    id: str
    text: str
    type: str
    state: str
    document_id: str
    chunk_id: str
    entities: list[str]
    tags: list[str]
    metadata: dict[str, str]
    context: str
    occurred_start: datetime | None
    occurred_end: datetime | None
    mentioned_at: datetime | None
    updated_at: datetime | None
    edited_at: datetime | None
    invalidated_at: datetime | None
    invalidation_reason: str
    consolidated_at: datetime | None
    proof_count: int | None
    source_fact_ids: list[str]

    @property
    def is_observation(self) -> bool:
        return self.type == "observation"

    @property
    def is_retired(self) -> bool:
        return self.state == "invalidated"

    @classmethod
    def parse(cls, row: Row) -> "Fact":
        return cls(
            id=fields.required(row, "id"),
            text=fields.text(row, "text"),
            type=fields.text(row, "fact_type") or fields.text(row, "type"),
            state=fields.text(row, "state") or "valid",
            document_id=fields.text(row, "document_id"),
            chunk_id=fields.text(row, "chunk_id"),
            entities=fields.entities(row.get("entities")),
            tags=fields.texts(row, "tags"),
            metadata=fields.metadata(row, "metadata"),
            context=fields.text(row, "context"),
            occurred_start=fields.when(row, "occurred_start"),
            occurred_end=fields.when(row, "occurred_end"),
            mentioned_at=fields.when(row, "mentioned_at"),
            updated_at=fields.when(row, "updated_at"),
            edited_at=fields.when(row, "edited_at"),
            invalidated_at=fields.when(row, "invalidated_at"),
            invalidation_reason=fields.text(row, "invalidation_reason"),
            consolidated_at=fields.when(row, "consolidated_at"),
            proof_count=fields.number(row, "proof_count") if row.get("proof_count") is not None else None,
            source_fact_ids=fields.texts(row, "source_memory_ids"),
        )


@dataclass(frozen=True, slots=True)
class Retained:
    """The server has taken the items; `operation_id` tells when they are stored."""

    operation_id: str
    ignored_params: tuple[str, ...] = ()


def _document_fields(row: Row) -> dict[str, Any]:
    params = row.get("retain_params")
    return {
        "id": fields.required(row, "id"),
        "content_hash": fields.text(row, "content_hash")[:HASH_LENGTH],
        "created_at": fields.when(row, "created_at"),
        "updated_at": fields.when(row, "updated_at"),
        "fact_count": fields.number(row, "memory_unit_count"),
        "retain_params": dict(params) if isinstance(params, dict) else {},
        "metadata": fields.metadata(row, "document_metadata"),
        "tags": fields.texts(row, "tags"),
    }

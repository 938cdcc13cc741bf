"""The server's background work as lists and single reads tell of it; the two name the same things differently."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from banks.hindsight import fields
from banks.hindsight.fields import Row

TERMINAL_STATUSES = frozenset({"completed", "failed", "cancelled"})
KNOWN_STATUSES = TERMINAL_STATUSES | {"pending", "processing", "not_found"}


@dataclass(frozen=True, slots=True)
class ChildOperation:
    id: str
    status: str
    error: str
    items: int

    @property
    def terminal(self) -> bool:
        return self.status in TERMINAL_STATUSES

    @classmethod
    def parse(cls, row: Row) -> "ChildOperation":
        return cls(
            id=fields.required(row, "operation_id"),
            status=fields.text(row, "status"),
            error=fields.text(row, "error_message"),
            items=fields.number(row, "items_count"),
        )


@dataclass(frozen=True, slots=True)
class Operation:
    """A piece of the server's background work.

    `raw_status` is the server's word; `status` is the same unless the operation waits for another attempt, then
    "retrying". Statuses that this client does not know are kept as they are and are not terminal.

    Only a single read tells of `children` and `parent_id`; `moved_at`: when the server last changed the row, or wrote
    down how far it has come.
    """

    id: str
    type: str
    status: str
    raw_status: str
    error: str
    retry_count: int
    next_retry_at: datetime | None
    document_id: str
    filename: str
    model_id: str
    items: int
    created_at: datetime | None
    updated_at: datetime | None
    moved_at: datetime | None
    completed_at: datetime | None
    parent_id: str = ""
    children: list[ChildOperation] = field(default_factory=list)

    @property
    def terminal(self) -> bool:
        """Whether nothing more will happen, its children included (a cancelled parent can have running children)."""
        return self.raw_status in TERMINAL_STATUSES and all(child.terminal for child in self.children)

    @property
    def not_found(self) -> bool:
        return self.raw_status == "not_found"

    @property
    def failed(self) -> bool:
        return self.raw_status == "failed" or any(child.status == "failed" for child in self.children)

    @classmethod
    def parse(cls, row: Row) -> "Operation":
        raw, error = fields.text(row, "status"), fields.text(row, "error_message")
        again, updated = fields.when(row, "next_retry_at"), fields.when(row, "updated_at")
        result, progress = _object(row, "result_metadata"), _object(row, "progress")
        moments = [each for each in (updated, fields.when(progress, "at")) if each]
        return cls(
            id=fields.text(row, "operation_id") or fields.required(row, "id"),
            type=fields.text(row, "operation_type") or fields.text(row, "task_type"),
            status="retrying" if raw == "pending" and error and again else raw,
            raw_status=raw,
            error=error,
            retry_count=fields.number(row, "retry_count"),
            next_retry_at=again,
            document_id=fields.text(row, "document_id") or fields.text(result, "document_id"),
            filename=fields.text(row, "filename") or fields.text(result, "original_filename"),
            model_id=fields.text(row, "mental_model_id"),
            items=fields.number(row, "items_count") or fields.number(result, "items_count"),
            created_at=fields.when(row, "created_at"),
            updated_at=updated,
            moved_at=max(moments, default=None),
            completed_at=fields.when(row, "completed_at"),
            parent_id=fields.text(result, "parent_operation_id"),
            children=[ChildOperation.parse(fields.mapping(child)) for child in _list(row, "child_operations")],
        )


def _object(row: Row, key: str) -> Row:
    value = row.get(key)
    return value if isinstance(value, dict) else {}


def _list(row: Row, key: str) -> Sequence[Any]:
    value = row.get(key)
    return value if isinstance(value, list) else []

"""What the endpoints about operations give."""

from datetime import datetime
from typing import Any

from ninja import Schema

from banks.models import OperationSeen
from banks.selectors_operations import OperationRow


class PartOut(Schema):
    """`id` is ours, for its address; `operation_id` the server's. `status` is the server's word, or retrying. `may`:
    what this token may do with it now: retry, cancel, forget."""

    id: int
    operation_id: str
    type: str
    status: str
    ended: bool
    stuck: bool
    error: str
    retry_count: int
    next_retry_at: datetime | None
    document_id: str
    about: str
    items: int
    began: datetime
    changed_at: datetime
    may: list[str]
    act: int | None

    @classmethod
    def values(cls, row: OperationRow) -> dict[str, Any]:
        seen = row.seen
        same = ["operation_id", "type", "status", "stuck", "error", "retry_count", "next_retry_at", "document_id"]
        may = {"retry": row.may_retry, "cancel": row.may_cancel, "forget": row.may_forget}
        return {
            **{name: getattr(seen, name) for name in [*same, "about", "items", "began", "changed_at"]},
            "id": seen.pk,
            "ended": seen.phase != OperationSeen.Phase.OPEN,
            "may": [act for act, allowed in may.items() if allowed],
            "act": row.act.pk if row.act else None,
        }

    @classmethod
    def of(cls, row: OperationRow) -> "PartOut":
        return cls(**cls.values(row))


class OperationOut(PartOut):
    """`looked_at`: when the bank's operations were last read. `write`: the row of the write log that began it; `act`:
    that of a retry or cancel under way. `parts` has the first of `parts_count`."""

    bank: str
    server: str
    looked_at: datetime | None
    write: int | None
    parts: list[PartOut]
    parts_count: int
    parts_unfinished: int
    parts_failed: int

    @classmethod
    def of(cls, row: OperationRow) -> "OperationOut":
        bank = row.seen.bank
        return cls(
            **cls.values(row),
            bank=bank.bank_id,
            server=bank.server.name,
            looked_at=bank.operation_look.looked_at,
            write=row.write.pk if row.write else None,
            parts=[PartOut.of(each) for each in row.parts],
            parts_count=row.count,
            parts_unfinished=row.unfinished,
            parts_failed=row.failed,
        )


class OperationPageOut(Schema):
    """Newest first. `next` is the `cursor` of the page behind; null when there is none."""

    operations: list[OperationOut]
    next: str | None


class ActOut(Schema):
    """Nothing was sent yet: `GET /writes/{id}` tells of each of `writes`. Of very many parts a `job` records them."""

    writes: list[int]
    job: int | None

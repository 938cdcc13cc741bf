"""What a request to retain will become, before anything is stored: by the functions that then do it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from banks.hindsight import retain_body
from banks.hindsight.ids import bank_path
from banks.models import Bank, Blob, RetainItem
from banks.retain import flush, observations, scope
from banks.retain.queueing import Planned, notes_of
from banks.retain.wire import wire_items
from memadmin.retention import RetainedText, head_of

TEXT_SHOWN, BODY_SHOWN = 600, 24_000  # bytes of one content, of one body
WAITING_COUNTED = 1_000
QUEUED_TIME = "(the time at which it is queued)"
MADE_ID = "(made when it is put together)"


@dataclass(frozen=True)
class Observed:
    """`place`: of the memory in the request, from 1."""

    place: int
    document_id: str
    built: observations.Built


@dataclass(frozen=True)
class Request:
    """One request to the server. `clipped`: how many texts are shown shorter than they are sent."""

    path: str
    body: RetainedText
    items: int
    size: int
    clipped: int
    append: bool


@dataclass(frozen=True)
class Preview:
    bank: Bank
    requests: list[Request]
    observed: list[Observed]
    waiting: int
    notes: list[str] = field(default_factory=list)


def preview(planned: Planned) -> Preview:
    """Reads our rows alone; nothing is stored, and no server is asked."""
    for row, item in zip(planned.rows, planned.items, strict=True):
        row.content = Blob.of(item.content)
        row.timestamp = item.timestamp or QUEUED_TIME
        row.alone = planned.bank.hold and row.operation_id is not None  # they are approved one by one
    waiting = RetainItem.objects.filter(bank=planned.bank, state=RetainItem.State.QUEUED).order_by()
    return Preview(
        bank=planned.bank,
        requests=[_request(planned.bank, group) for group in flush.requests_of(planned.rows)],
        observed=[_observed(row) for row in planned.rows],
        waiting=len(waiting.values_list("pk")[:WAITING_COUNTED]),
        notes=[*scope.shared_label(planned.scoped), *notes_of(planned.bank, planned.items)],
    )


def _request(bank: Bank, rows: Sequence[RetainItem]) -> Request:
    first = rows[0]
    made = str(first.operation_id) if first.operation_id and not first.alone else MADE_ID
    body = retain_body(wire_items(rows), operation_id=made, document_tags=first.document_tags)
    clipped = _clip(body)
    return Request(
        path=bank_path(bank.server.namespace, bank.bank_id, "memories").decode("ascii"),
        body=head_of(json.dumps(body, ensure_ascii=False, indent=2), BODY_SHOWN),
        items=len(rows),
        size=sum(row.size for row in rows),
        clipped=clipped,
        append=first.update_mode == RetainItem.Mode.APPEND,
    )


def _clip(body: dict[str, Any]) -> int:
    """Shortens long texts in place. How many there were."""
    clipped = 0
    for item in body["items"]:
        kept = head_of(item["content"], TEXT_SHOWN)
        if kept.truncated:
            item["content"] = f"{kept.text}…"
            clipped += 1
    return clipped


def _observed(row: RetainItem) -> Observed:
    built = observations.built(row.observation_scopes, [*row.tags, *row.document_tags])
    return Observed(row.position + 1, row.document_id, built)

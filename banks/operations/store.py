"""What a look has read becomes rows. Only what is new or different is written."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q

from banks.hindsight import ChildOperation, Operation
from banks.models import Bank, OperationSeen
from banks.operations.read import Found
from memadmin.retention import ends_of, head_of

Phase = OperationSeen.Phase
KEPT_FOR = timedelta(hours=24)  # what has ended
ENDED_KEPT, FAILED_KEPT = 300, 200  # rows of a bank
ERROR_ENDS = (3_000, 1_000)  # bytes
LONGEST_ID = 20_000  # characters of a document's id
AT_ONCE = 200
TOLD = ["type", "status", "raw_status", "error", "retry_count", "next_retry_at", "document_id", "about", "items"]
WRITTEN = [*TOLD, "phase", "moved_at", "still_since", "over_since", "changed_at", "read_at"]


@dataclass(frozen=True)
class Stored:
    new: int
    changed: int


def store(bank: Bank, found: Found, *, now: datetime, ahead: timedelta) -> Stored:
    """Belongs into one transaction with the end of the look. `ahead`: of the server's clock, before ours."""
    have = {row.operation_id: row for row in bank.operations.all()}
    kept = [each for each in found.by_id.values() if key_of(each.id) in have or not _is_old(each, now, ahead)]
    children = {key_of(child.id): child for each in kept for child in each.children}
    rows: dict[str, OperationSeen] = {}
    for operation in found.by_id.values():
        key = key_of(operation.id)
        if key not in have and key not in children and _is_old(operation, now, ahead):
            continue
        row = have.get(key) or _new(bank, key, _ours(operation.created_at, now, ahead) or now, now)
        rows[key] = _take_over(row, operation, now=now, ahead=ahead)
        if operation.id in found.single:
            row.read_at = now
    for key, child in children.items():
        if key not in rows:
            rows[key] = _take_over_child(have.get(key) or _new(bank, key, now, now), child, now=now)
    written = _write(list(rows.values()), now)
    _link(bank, found, now)
    _prune(bank, now)
    return written


def key_of(operation_id: str) -> str:
    return _clean(operation_id, 64)


def _new(bank: Bank, key: str, began: datetime, now: datetime) -> OperationSeen:
    return OperationSeen(bank=bank, operation_id=key, began=began, still_since=now)


def _take_over(row: OperationSeen, operation: Operation, *, now: datetime, ahead: timedelta) -> OperationSeen:
    told = {
        "type": _clean(operation.type, 60) or row.type,
        "status": _clean(operation.status, 40) or "unknown",
        "raw_status": _clean(operation.raw_status, 40) or "unknown",
        "error": _bounded(operation.error),
        "retry_count": operation.retry_count,
        "next_retry_at": operation.next_retry_at,
        "document_id": _clean(operation.document_id, LONGEST_ID) or row.document_id,
        "about": _clean(operation.filename or operation.model_id, 300) or row.about,
        "items": operation.items or row.items,
    }
    moved = operation.moved_at or row.moved_at
    if row.pk is None or moved != row.moved_at or any(getattr(row, name) != value for name, value in told.items()):
        still = _ours(operation.moved_at, now, ahead) or now
        _change(row, told, still=max(still, _ours(operation.next_retry_at, None, ahead) or still), now=now)
        row.moved_at = moved
        row.over_since = None if row.phase == Phase.OPEN else _ended_at(operation, now, ahead)
    return row


def _take_over_child(row: OperationSeen, child: ChildOperation, *, now: datetime) -> OperationSeen:
    """A child that only its parent told of, which says less than a list does."""
    status = _clean(child.status, 40) or "unknown"
    if row.pk is None or status != row.raw_status:
        told = {"status": status, "raw_status": status, "error": _bounded(child.error), "next_retry_at": None}
        _change(row, told, still=now, now=now)
        row.items = row.items or child.items
        row.over_since = None if row.phase == Phase.OPEN else now
    return row


def _change(row: OperationSeen, told: dict[str, Any], *, still: datetime, now: datetime) -> None:
    for name, value in told.items():
        setattr(row, name, value)
    row.phase = phase_of(row.raw_status)
    row.still_since, row.changed_at = still, now


def phase_of(raw_status: str) -> Phase:
    if raw_status in {"completed", "cancelled"}:
        return Phase.ENDED
    return {"failed": Phase.FAILED, "not_found": Phase.GONE}.get(raw_status, Phase.OPEN)


def _write(rows: list[OperationSeen], now: datetime) -> Stored:
    new = [row for row in rows if row.pk is None]
    changed = [row for row in rows if row.pk is not None and now in (row.changed_at, row.read_at)]
    OperationSeen.objects.bulk_create(new, batch_size=AT_ONCE)
    OperationSeen.objects.bulk_update(changed, WRITTEN, batch_size=AT_ONCE)
    return Stored(len(new), sum(row.changed_at == now for row in changed))


def _link(bank: Bank, found: Found, now: datetime) -> None:
    """Children under their parents."""
    parents = {key_of(each.id): each for each in found.by_id.values() if each.children}
    rows = {row.operation_id: row for row in bank.operations.filter(operation_id__in=parents)}
    for key, row in rows.items():
        ids = {key_of(child.id) for child in parents[key].children} - {key}
        children = bank.operations.filter(operation_id__in=ids, children=None)
        children.exclude(parent=row).update(parent=row, changed_at=now)
    moved = Q(pk__in=[row.pk for row in rows.values()]) | Q(changed_at=now) | Q(children__changed_at=now)
    _settle(bank.operations.filter(moved, children__isnull=False).distinct().prefetch_related("children"), now)


def _settle(parents: Iterable[OperationSeen], now: datetime) -> None:
    """A parent has ended when its children have, and stands still when they do."""
    for row in parents:
        children = list(row.children.all())
        unfinished = [child for child in children if child.phase == Phase.OPEN]
        phase = Phase.OPEN if unfinished else phase_of(row.raw_status)
        told = {
            "phase": phase,
            "still_since": max([child.still_since for child in unfinished] or [row.still_since]),
            "over_since": None if phase == Phase.OPEN else row.over_since or now,
            "document_id": row.document_id or (children[0].document_id if len(children) == 1 else ""),
            "changed_at": max([row.changed_at, *(child.changed_at for child in children)]),
        }
        OperationSeen.objects.filter(pk=row.pk).update(**told)


def _prune(bank: Bank, now: datetime) -> None:
    alone = bank.operations.filter(parent=None)
    over, failed = alone.filter(phase__in=[Phase.ENDED, Phase.GONE]), alone.filter(phase=Phase.FAILED)
    surplus = [
        *over.filter(over_since__lt=now - KEPT_FOR).values_list("pk", flat=True),
        *over.order_by("-began", "-pk").values_list("pk", flat=True)[ENDED_KEPT:],
        *failed.order_by("-began", "-pk").values_list("pk", flat=True)[FAILED_KEPT:],
    ]
    if surplus:
        OperationSeen.objects.filter(pk__in=surplus).delete()


def _is_old(operation: Operation, now: datetime, ahead: timedelta) -> bool:
    """Whether it had ended before the time that is kept, when it is met for the first time."""
    if phase_of(operation.raw_status) not in (Phase.ENDED, Phase.GONE):
        return False
    if any(not child.terminal for child in operation.children):
        return False
    return (_ours(operation.created_at, now, ahead) or now) < now - KEPT_FOR and _ended_at(
        operation, now, ahead
    ) < now - KEPT_FOR


def _ended_at(operation: Operation, now: datetime, ahead: timedelta) -> datetime:
    """One that the server no longer knows has ended now, as far as anybody can tell."""
    ended = None if operation.not_found else operation.completed_at or operation.moved_at
    return _ours(ended, now, ahead) or now


def _ours(moment: datetime | None, latest: datetime | None, ahead: timedelta) -> datetime | None:
    """A moment of the server by our clock; what it says about the future is not believed, where `latest` is given."""
    if moment is None:
        return None
    return moment - ahead if latest is None else min(moment - ahead, latest)


def _bounded(text: str) -> str:
    kept = ends_of(text.replace("\x00", ""), *ERROR_ENDS)
    return f"{kept.head} … {kept.tail}" if kept.truncated else kept.text


def _clean(text: str, longest: int) -> str:
    """As a column takes it: without NUL and half characters, and not longer."""
    return head_of(text.replace("\x00", ""), longest).head

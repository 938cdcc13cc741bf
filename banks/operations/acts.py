"""Retrying, cancelling and forgetting operations: one write for each, alone or as a group that a job records.

A parent has no work of its own. Cancelling it stops nothing, so its unfinished parts are cancelled instead; a retry of
it queues its parts again; it is forgotten with all of its parts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from uuid import UUID, uuid4

from django.db import transaction

from banks import access, jobs, writes
from banks.models import Job, JobItem, OperationSeen, Role, Write
from banks.operations import look
from memadmin.accounts.models import User

Act = Literal["retry", "cancel", "forget"]
KIND = "operation-acts"
KINDS: dict[Act, str] = {"retry": "operation-retry", "cancel": "operation-cancel", "forget": "operation-forget"}
ROLES: dict[Act, Role] = {"retry": Role.REVIEWER, "cancel": Role.ADMIN, "forget": Role.ADMIN}
MOST = 1_000  # rows at once
ROWS_PER_STEP = 100
LONGEST_DOCUMENT = 2_000  # characters of its id that a write carries
NO_ROLE = "Your role on its bank is not enough."
UNDER_WAY = "Something is being done about it already."
FORGOTTEN = "It is no longer known."


@dataclass
class Plan:
    """`do`: one write each; `parts`: how many of them are parts of a row that was picked; `left`: rows and why."""

    do: list[OperationSeen] = field(default_factory=list)
    parts: int = 0
    left: list[tuple[OperationSeen, str]] = field(default_factory=list)

    @property
    def working(self) -> int:
        """Those whose work has begun, as far as is known."""
        return sum(row.raw_status != "pending" for row in self.do)

    @property
    def waiting(self) -> int:
        return len(self.do) - self.working


def plan(*, user: User, act: Act, rows: Iterable[OperationSeen]) -> Plan:
    """What an act on these rows would do. Three queries, however many there are."""
    rows = list(rows)
    parts: dict[int, list[OperationSeen]] = {}
    children = OperationSeen.objects.filter(parent__in=[row.pk for row in rows]).select_related("bank__server")
    for child in children.order_by("pk"):
        parts.setdefault(child.parent_id or 0, []).append(child)
    allowed = access.bank_ids_for(user, ROLES[act])
    busy = under_way([*rows, *(child for each in parts.values() for child in each)])
    found = Plan()
    for row in rows:
        targets = _targets(act, row, parts.get(row.pk, []))
        free = [each for each in targets if slot_of(each) not in busy]
        if allowed is not None and row.bank_id not in allowed:
            found.left.append((row, NO_ROLE))
        elif not targets:
            found.left.append((row, f"It is {row.status}: there is nothing to {act}."))
        elif not free:
            found.left.append((row, UNDER_WAY))
        else:
            found.do += free
            found.parts += sum(each.pk != row.pk for each in free)
    return found


def _targets(act: Act, row: OperationSeen, parts: Sequence[OperationSeen]) -> list[OperationSeen]:
    if act == "retry":
        return [row] if any(each.may_be_retried for each in (row, *parts)) else []
    if act == "forget":
        return [*parts, row] if row.may_be_forgotten else []
    unfinished = [each for each in parts if each.may_be_cancelled]
    return unfinished or ([row] if row.may_be_cancelled else [])


def slot_of(row: OperationSeen) -> str:
    return writes.get(KINDS["retry"]).slot(bank=row.bank, document_id="", params={"operation": row.operation_id})


def under_way(rows: Iterable[OperationSeen], states: Sequence[str] = tuple(Write.OPEN)) -> dict[str, Write]:
    """{slot: the latest write about that operation in one of the states}. One query."""
    slots = {slot_of(row) for row in rows}
    found = Write.objects.filter(slot__in=slots, state__in=states).order_by("pk")
    return {write.slot: write for write in found}


def record(
    *, user: User, act: Act, row: OperationSeen, group: UUID | None = None, via: Write.Via = Write.Via.WEB
) -> Write:
    """One write. Raises Http404 and NotEnough as `access.require` does."""
    access.require(user, row.bank, ROLES[act])
    about = row.document_id if len(row.document_id) <= LONGEST_DOCUMENT else ""
    params = {"operation": row.operation_id, "document": about, "type": row.type, "status": row.status}
    with transaction.atomic():
        return writes.record(kind=KINDS[act], bank=row.bank, via=via, actor=user, params=params, group=group)


def start(*, user: User, act: Act, rows: Sequence[OperationSeen]) -> Job:
    """Records one write for each of these operations as a group, by a worker."""
    noun = "operation" if len(rows) == 1 else "operations"
    picks = [row.pk for row in rows[: MOST * ROWS_PER_STEP]]
    params = {"act": act, "group": str(uuid4()), "picks": picks, "total": len(picks)}
    with transaction.atomic():
        return jobs.start(kind=KIND, owner=user, title=f"{act.capitalize()} {len(rows):,} {noun}", params=params)


def run(run: jobs.Run) -> dict[str, Any]:
    """The handler. What is recorded already lies before the cursor."""
    act, group, picks = run.params["act"], UUID(run.params["group"]), run.params["picks"]
    via = Write.Via.API if "token" in run.params else Write.Via.WEB
    while (at := run.cursor.get("at", 0)) < len(picks):
        owner = jobs.person_of(run.job)
        lot = picks[at : at + ROWS_PER_STEP]
        known = {row.pk: row for row in OperationSeen.objects.filter(pk__in=lot).select_related("bank__server")}
        allowed, busy = access.bank_ids_for(owner, ROLES[act]), under_way(known.values())
        with run.step(done=at + len(lot), cursor={"at": at + len(lot)}, total=len(picks)):
            for number, pk in enumerate(lot, start=at + 1):
                row = known.get(pk)
                why = FORGOTTEN if row is None else ""
                if row is not None and allowed is not None and row.bank_id not in allowed:
                    why = NO_ROLE
                elif row is not None and slot_of(row) in busy:
                    why = UNDER_WAY
                if row is None or why:
                    text = row.operation_id if row else str(pk)
                    JobItem.objects.create(job=run.job, number=number, outcome="skipped", reason=why, raw=text.encode())
                else:
                    record(user=owner, act=act, row=row, group=group, via=via)
    return {"recorded": Write.objects.filter(group=group).count(), "skipped": run.job.items.count()}


@writes.after(*KINDS.values())
def _look_again(write: Write) -> None:
    if write.kind == KINDS["forget"] and write.state == Write.State.DONE:
        OperationSeen.objects.filter(bank=write.bank_id, operation_id=write.params["operation"]).delete()
    look.ask([write.bank_id])


jobs.register(KIND, run)

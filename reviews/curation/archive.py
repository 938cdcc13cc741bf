"""Restoring retired facts from the archive: one, or many as a job whose rows are one group, undone as a unit.

A job records one row for each fact; the door sends them, several at once where they are of different documents. Each
step stores its rows and how far it came in one transaction, so a job that was killed goes on where it was.
"""

import json
from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.http import Http404

from banks import access, jobs, writes
from banks.models import Blob, Job, JobItem, Role, Write
from memadmin.accounts.models import User
from reviews.errors import FactRefused, TooLate
from reviews.models import FactDecision
from reviews.selectors.retired import RetiredFilters, retired_seen_by, rows_of, under_way

RESTORE, RETIRE = "restore-facts", "retire-again"
ROWS_PER_STEP = 100
MOST_PICKED = 1_000
SKIPPED = "skipped"
NOT_RETIRED = "It is not retired any more."
UNDER_WAY = "Another write of it is under way."
NO_ROLE = "You may not decide on its bank."
CHANGED = "Somebody decided about it since."
BEING_SENT = "It was just being restored. Undo once more to retire it again."
BACK_AGAIN = "It was retired again already."


def restore_one(*, user: User, decision_id: int) -> Write:
    """Brings one fact of the archive back. 404 / 403 as ever; FactRefused when it cannot be."""
    decision = FactDecision.objects.select_related("bank", "extracted", "current").filter(pk=decision_id).first()
    if decision is None:
        raise Http404("No such fact.")
    access.require(user, decision.bank, Role.REVIEWER)
    with transaction.atomic():
        if not _hold(decision):
            raise FactRefused(NOT_RETIRED)
        if under_way([decision]):
            raise FactRefused(UNDER_WAY)
        return _restore(decision, user=user, group=None)


def start_restore(*, user: User, picks: Sequence[int] | None = None, filters: RetiredFilters | None = None) -> Job:
    """Queues the restoration of the picked facts, or of all that match and that this person may restore.

    Of all that match only those that are in the archive now: what is retired later is not what was decided on.
    """
    params: dict[str, Any] = {"group": str(uuid4())}
    if filters is None:
        params["picks"] = sorted(set(picks or []))[:MOST_PICKED]
        total = len(params["picks"])
    else:
        rows = retired_seen_by(user, filters, Role.REVIEWER)
        params |= {"filters": filters.values, "last": max(rows.order_by().values_list("pk", flat=True), default=0)}
        total = rows.count()
    if not total:
        raise FactRefused("Nothing is selected, so nothing is restored.")
    noun = "fact" if total == 1 else "facts"
    with transaction.atomic():
        return jobs.start(
            kind=RESTORE, owner=user, title=f"Restore {total:,} {noun}", params={**params, "total": total}
        )


def start_undo(*, user: User, job: Job) -> Job:
    """Takes a bulk restore back as a unit: what waits is cancelled, what came back is retired again as it was."""
    restored = rows_of(job).filter(kind="restore")
    if not job.ended or restored.filter(state__in=Write.IN_FLIGHT).exists():
        raise TooLate("Some of them are being sent just now. When that has ended, undo it.")
    if Write.objects.filter(kind="retire", undo_of__in=restored).exists():
        raise TooLate("It was taken back already.")
    params = {"group": str(uuid4()), "of": job.params["group"], "job": job.pk, "total": restored.count()}
    with transaction.atomic():
        # Held until the undo is stored: a second one waits here, and then sees the first.
        Job.objects.filter(pk=job.pk).update(kind=job.kind)
        if Job.objects.filter(kind=RETIRE, params__job=job.pk).exclude(state__in=Job.ENDED).exists():
            raise TooLate("It is being taken back already.")
        return jobs.start(kind=RETIRE, owner=user, title=f"Undo: {job.title}", params=params)


def run_restore(run: jobs.Run) -> dict[str, Any]:
    """The handler. What is recorded already lies before the cursor."""
    group = UUID(run.params["group"])
    while True:
        owner = _owner(run)
        lot = list(_wanted(run, owner)[:ROWS_PER_STEP])
        if not lot:
            return {"recorded": rows_of(run.job).count(), "skipped": run.job.items.count()}
        banks = access.bank_ids_for(owner, Role.REVIEWER)
        with run.step(done=run.job.done + len(lot), cursor={"after": lot[-1].pk}, total=run.params["total"]):
            acts = under_way(lot)
            for number, decision in enumerate(lot, start=run.job.done + 1):
                why = ""
                if banks is not None and decision.bank_id not in banks:
                    why = NO_ROLE
                elif (decision.bank_id, decision.fact_id) in acts:
                    why = UNDER_WAY
                elif not _hold(decision):
                    why = NOT_RETIRED
                if why:
                    _skip(run, number, why, decision)
                else:
                    _restore(decision, user=owner, group=group)


def _wanted(run: jobs.Run, owner: User) -> Any:
    after = run.cursor.get("after", 0)
    if "picks" in run.params:
        rows = FactDecision.objects.filter(pk__in=run.params["picks"])
    else:
        filters = RetiredFilters.parse(run.params["filters"])
        rows = retired_seen_by(owner, filters, Role.REVIEWER).filter(pk__lte=run.params["last"])
    return rows.filter(pk__gt=after).select_related("bank", "extracted", "current").order_by("pk")


def _hold(decision: FactDecision) -> bool:
    """Whether it is retired still; nobody else records a row for it until the transaction has ended."""
    same = FactDecision.objects.filter(pk=decision.pk, verdict=FactDecision.Verdict.RETIRED)
    return bool(same.update(verdict=FactDecision.Verdict.RETIRED))


def _restore(decision: FactDecision, *, user: User, group: UUID | None) -> Write:
    text = (decision.current or decision.extracted).text
    row = {"id": decision.fact_id, "text": text, "type": decision.fact_type, "state": "invalidated"}
    return writes.record(
        kind="restore",
        bank=decision.bank,
        via=Write.Via.WEB,
        actor=user,
        document_id=decision.document_id,
        fact_ids=[decision.fact_id],
        facts_before=Blob.objects.store(json.dumps([row], ensure_ascii=False)),
        # The reason goes with the retirement; an undo needs it.
        params={"decision": decision.pk, "reason": decision.reason},
        group=group,
    )


def run_undo(run: jobs.Run) -> dict[str, Any]:
    """The handler: rows of the restored group in their order."""
    group = UUID(run.params["group"])
    while True:
        owner = _owner(run)
        rows = Write.objects.filter(group=run.params["of"], kind="restore", pk__gt=run.cursor.get("after", 0))
        lot = list(rows.select_related("bank", "facts_before").order_by("pk")[:ROWS_PER_STEP])
        if not lot:
            return {"recorded": rows_of(run.job).count(), "skipped": run.job.items.count()}
        with run.step(done=run.job.done + len(lot), cursor={"after": lot[-1].pk}, total=run.params["total"]):
            decisions = _decisions_of(lot)
            for number, row in enumerate(lot, start=run.job.done + 1):
                decision = decisions.get(row.params.get("decision", 0))
                if why := _retire_again(row, decision, owner=owner, group=group):
                    _skip(run, number, why, decision)


def _decisions_of(rows: Sequence[Write]) -> dict[int, FactDecision]:
    pks = [row.params.get("decision", 0) for row in rows]
    return {each.pk: each for each in FactDecision.objects.filter(pk__in=pks)}


def _retire_again(row: Write, decision: FactDecision | None, *, owner: User, group: UUID) -> str:
    """Why it is not, "" when it is, or when there is nothing to take back."""
    if row.is_open:
        return "" if writes.cancel(write=row) else BEING_SENT
    if not row.outcome.get("restored"):
        return ""
    has = access.role_on(owner, row.bank)
    if has is None or has < Role.REVIEWER:
        return NO_ROLE
    if decision is None or decision.write_id != row.pk:
        return CHANGED
    if row.undone_by.exists():
        return BACK_AGAIN
    writes.record(
        kind="retire",
        bank=row.bank,
        via=Write.Via.WEB,
        actor=owner,
        document_id=row.document_id,
        fact_ids=row.fact_ids,
        facts_before=row.facts_before,
        params={"decision": decision.pk, "reason": row.params.get("reason", "")},
        undo_of=row,
        group=group,
    )
    return ""


def _owner(run: jobs.Run) -> User:
    """Anew in each step: a role may have ended meanwhile."""
    owner = User.objects.filter(jobs=run.job, is_active=True).first()
    if owner is None:
        raise jobs.JobError("The person who started it has no account here any more. What was recorded stays.")
    return owner


def _skip(run: jobs.Run, number: int, why: str, decision: FactDecision | None) -> None:
    text = decision.preview.encode() if decision else b""
    JobItem.objects.create(job=run.job, number=number, outcome=SKIPPED, reason=why, raw=text)


jobs.register(RESTORE, run_restore)
jobs.register(RETIRE, run_undo)

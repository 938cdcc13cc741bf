"""Restoring retired facts from the archive: one, or many as a job whose rows are one group, undone as a unit.

A job records one row for each fact; the door sends them, several at once where they are of different documents. Each
step stores its rows and how far it came in one transaction, so a job that was killed goes on where it was.
"""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.http import Http404
from django.utils import timezone

from banks import access, jobs, writes
from banks.models import Bank, Blob, Job, JobItem, Role, Write
from memadmin.accounts.models import User
from reviews.curation import elsewhere, reapply
from reviews.errors import FactRefused, TooLate
from reviews.models import FactDecision
from reviews.selectors.retired import retired_seen_by, under_way
from reviews.selectors.retired_filters import RetiredFilters
from reviews.selectors.retired_jobs import KINDS, rows_of

RESTORE, RETIRE = KINDS
ROWS_PER_STEP = 100
MOST_PICKED = 1_000
BANKS_ASKED = 50
SKIPPED = "skipped"
NOT_RETIRED = "It is not retired any more."
NOT_THERE = "Its fact is not in the bank any more."
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
        if why := _why_not([decision])[decision.pk]:
            raise FactRefused(why)
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
        now = timezone.now().isoformat()
        last = rows.order_by("-pk").values_list("pk", flat=True).first() or 0
        params |= {"filters": filters.values, "last": last, "until": now}
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
            refused = _why_not(lot)
            for number, decision in enumerate(lot, start=run.job.done + 1):
                allowed = banks is None or decision.bank_id in banks
                if why := refused[decision.pk] if allowed else NO_ROLE:
                    _skip(run, number, why, decision)
                else:
                    _restore(decision, user=owner, group=group)


def _wanted(run: jobs.Run, owner: User) -> Any:
    after = run.cursor.get("after", 0)
    if "picks" in run.params:
        rows = FactDecision.objects.filter(pk__in=run.params["picks"])
    else:
        filters = RetiredFilters.parse(run.params["filters"])
        rows = retired_seen_by(owner, filters, Role.REVIEWER)
        rows = rows.filter(pk__lte=run.params["last"], at__lte=datetime.fromisoformat(run.params["until"]))
    return rows.filter(pk__gt=after).select_related("bank", "extracted", "current").order_by("pk")


def _why_not(decisions: Sequence[FactDecision]) -> dict[int, str]:
    """{primary key: why it cannot be restored, "" when it can}.

    Nobody else records a row for them until the transaction has ended: they are held first, and looked at then.
    """
    held = FactDecision.objects.filter(pk__in=[each.pk for each in decisions], verdict=FactDecision.Verdict.RETIRED)
    held.update(verdict=FactDecision.Verdict.RETIRED)
    now = {pk: (fact_id, gone) for pk, fact_id, gone in held.values_list("pk", "fact_id", "gone_since")}
    acts = under_way(decisions)
    found = {}
    for each in decisions:
        fact_id, gone = now.get(each.pk, ("", None))
        if (each.bank_id, each.fact_id) in acts:
            found[each.pk] = UNDER_WAY
        elif fact_id != each.fact_id:
            found[each.pk] = NOT_RETIRED
        else:
            found[each.pk] = NOT_THERE if gone else ""
    return found


def _restore(decision: FactDecision, *, user: User, group: UUID | None) -> Write:
    text = (decision.current or decision.extracted).text
    row = {"id": decision.fact_id, "text": text, "type": decision.fact_type, "state": "invalidated"}
    for earlier in _refused(decision):  # this row takes its place
        writes.discard(write=earlier, actor=user)
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


def _refused(decision: FactDecision) -> list[Write]:
    """Earlier tries to restore it that wait for a person."""
    waiting = Write.objects.filter(
        bank=decision.bank_id, document_hash=decision.document_hash, kind="restore", state=Write.State.ATTENTION
    )
    return [row for row in waiting if row.fact_ids == [decision.fact_id]]


def stop(*, user: User, job: Job) -> int:
    """Nothing more is recorded, and what has not left never does. Returns how many rows that were."""
    now = timezone.now()
    with transaction.atomic():
        # A worker that is at it loses its claim, and with it the step it is in.
        Job.objects.filter(pk=job.pk).exclude(state__in=Job.ENDED).update(
            state=Job.State.CANCELLED, finished=now, claimed_until=None, result={"stopped_by": user.display_name}
        )
        unsent = rows_of(job).filter(state__in=[Write.State.QUEUED, Write.State.RETRYING], sent=None)
        return unsent.update(state=Write.State.CANCELLED, finished=now)


def read_back(write: Write) -> None:
    """With the last row of a bulk act its banks are asked what is retired now."""
    if write.group is None or "decision" not in write.params or write.state in Write.OPEN:
        return
    if not Write.objects.filter(group=write.group, state__in=Write.OPEN).exclude(pk=write.pk).exists():
        for bank in Bank.objects.filter(writes__group=write.group).distinct()[:BANKS_ASKED]:
            elsewhere.start(bank)


def let_go(*, user: User, decision_id: int) -> None:
    """A decision whose fact is gone need not stand, should the fact come back. 404 / 403; FactRefused for others."""
    decision = FactDecision.objects.select_related("bank").filter(pk=decision_id).first()
    if decision is None:
        raise Http404("No such fact.")
    access.require(user, decision.bank, Role.REVIEWER)
    with transaction.atomic():
        gone = FactDecision.objects.filter(pk=decision.pk, gone_since__isnull=False, fact_id=decision.fact_id)
        if not gone.exists() or not reapply.let_go(user=user, decision=decision, fact_id=decision.fact_id):
            raise FactRefused("It stands no more, or its fact is in the bank: there it can be restored.")


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
    if decision is None or decision.write_id != row.pk or decision.origin != FactDecision.Origin.OURS:
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

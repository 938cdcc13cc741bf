"""A bulk act taken back as a unit: each decision that is still the latest of its memory, by a row of its own."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID, uuid4

from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Max
from django.http import Http404

from banks import access, jobs
from banks.models import Job, JobItem, Role, Write
from memadmin.accounts.models import User
from reviews.bulk.deciding import FIRST_REFUSAL, NO_ROLE, REFUSED, ROWS_PER_STEP
from reviews.errors import NotDecided, TooLate
from reviews.models import Decision
from reviews.services import decide

KIND = "undo-decisions"
RUNNING = "It is going on still. Stop it first, or wait for its end; then it can be taken back."
BEING = "It is being taken back already."
AGAIN = "It was taken back already."
CHANGED = "Somebody decided about it since."


def start(*, user: User, job: Job) -> Job:
    """Raises TooLate while it runs, and for a second time."""
    if not job.ended:
        raise TooLate(RUNNING)
    params = {"group": str(uuid4()), "of": job.params["group"], "job": job.pk, "verdict": job.params["verdict"]}
    with transaction.atomic():
        # Held until the undo is stored: a second one waits here, and then sees the first.
        Job.objects.filter(pk=job.pk).update(kind=job.kind)
        for earlier in Job.objects.filter(kind=KIND, params__job=job.pk).exclude(state=Job.State.FAILED):
            raise TooLate(AGAIN if earlier.ended else BEING)
        params["total"] = Write.objects.filter(group=job.params["group"]).count()
        if not params["total"]:
            raise TooLate("Nothing was decided by it.")
        return jobs.start(kind=KIND, owner=user, title=f"Undo: {job.title}", params=params)


def run(run: jobs.Run) -> dict[str, Any]:
    """The handler: rows of the group in their order."""
    group = UUID(run.params["group"])
    while True:
        owner = jobs.person_of(run.job)
        rows = Write.objects.filter(group=run.params["of"], pk__gt=run.cursor.get("after", 0)).order_by("pk")
        lot = list(rows.only("pk", "bank")[:ROWS_PER_STEP])
        if not lot:
            return {"refused": run.job.items.count()}
        banks = access.bank_ids_for(owner, Role.REVIEWER)
        with run.step(done=run.job.done + len(lot), cursor={"after": lot[-1].pk}, total=run.params["total"]):
            decisions, latest = _decisions_of(lot)
            for number, row in enumerate(lot, start=FIRST_REFUSAL + run.job.done):
                decision = decisions.get(row.pk)
                allowed = banks is None or row.bank_id in banks
                why = _take_back(decision, latest, owner=owner, group=group) if allowed else NO_ROLE
                if why:
                    raw = str(decision.entry_id).encode() if decision else b""
                    JobItem.objects.create(job=run.job, number=number, outcome=REFUSED, reason=why[:300], raw=raw)


def _decisions_of(rows: Sequence[Write]) -> tuple[dict[int | None, Decision], set[int]]:
    """By the row: its decision. And those that are the latest of their memory."""
    found = {each.write_id: each for each in Decision.objects.filter(write__in=[row.pk for row in rows])}
    newest = Decision.objects.filter(entry__in=[each.entry_id for each in found.values()]).values("entry")
    return found, set(newest.annotate(at=Max("pk")).values_list("at", flat=True))


def _take_back(decision: Decision | None, latest: set[int], *, owner: User, group: UUID) -> str:
    """Why it stays, "" when it is taken back."""
    if decision is None or decision.pk not in latest:
        return CHANGED
    try:
        decide.undo(user=owner, entry_id=decision.entry_id, group=group)
    except NotDecided as refused:
        return str(refused)
    except (Http404, PermissionDenied):  # between the look and now
        return NO_ROLE
    return ""


jobs.register(KIND, run)

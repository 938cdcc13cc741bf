"""What a bulk act shows: how far it is, what was refused and why, and what can be done about it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count as CountOf
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from banks.models import Job, JobItem, Write
from reviews.access import entries_for
from reviews.bulk import deciding, undoing
from reviews.models import Decision, ReviewEntry
from reviews.selectors.queue import HEAVY

KINDS = (deciding.KIND, undoing.KIND)
SHOWN = 100
BAD = [Write.State.ATTENTION, Write.State.CHANGED]


@dataclass(frozen=True)
class Progress:
    """Of `total` picked `decided` have their row, and `refused` were not decided on.

    Of these rows `waiting` are to be sent or being sent, `bad` need a person, `cancelled` were never sent.
    """

    total: int
    decided: int
    refused: int
    waiting: int
    bad: int
    cancelled: int

    @property
    def handled(self) -> int:
        return self.decided + self.refused


@dataclass(frozen=True)
class Refused:
    """A memory on which was not decided, or whose deletion the bank refused. `entry`: None when it is not seen."""

    why: str
    entry: ReviewEntry | None


def rows_of(job: Job) -> QuerySet[Write]:
    return Write.objects.filter(group=job.params["group"])


def progress_of(job: Job) -> Progress:
    states = dict(rows_of(job).order_by().values_list("state").annotate(CountOf("pk")))
    return Progress(
        total=job.params["total"],
        decided=sum(states.values()),
        refused=_lines(job).count(),
        waiting=sum(states.get(state, 0) for state in Write.OPEN),
        bad=sum(states.get(state, 0) for state in BAD),
        cancelled=states.get(Write.State.CANCELLED, 0),
    )


def is_over(job: Job, progress: Progress) -> bool:
    """Nothing of it will change any more by itself."""
    return job.ended and not progress.waiting


def send_at(job: Job) -> datetime | None:
    """Until when nothing of a deletion is sent; None when that is over, or nothing is sent at all."""
    at = parse_datetime(job.params.get("send_at", ""))
    return at if at and at > timezone.now() else None


def refused_of(user: Any, job: Job) -> list[Refused]:
    """The first ones: what was not decided on, then what the bank refused."""
    reasons = _reasons(job)
    rows = entries_for(user).select_related("bank", "lease_user").defer(*HEAVY)
    entries = {entry.pk: entry for entry in rows.filter(pk__in=list(reasons))}
    return [Refused(why, entries.get(pk)) for pk, why in reasons.items()]


def still_selected(user: Any, job: Job) -> list[tuple[ReviewEntry, str]]:
    """Of these what waits for a decision still, to be tried again, each with the reason."""
    return [(each.entry, each.why) for each in refused_of(user, job) if each.entry and each.entry.waits]


def _lines(job: Job) -> QuerySet[JobItem]:
    return job.items.filter(outcome=deciding.REFUSED)


def _reasons(job: Job) -> dict[int, str]:
    """{primary key of the memory: why}"""
    found: dict[int, str] = {}
    for reason, raw in _lines(job).order_by("number").values_list("reason", "raw")[:SHOWN]:
        text = bytes(raw).decode()
        if text.isdigit():
            found[int(text)] = reason
    bad = dict(rows_of(job).filter(state__in=BAD).order_by("pk").values_list("pk", "error_text")[:SHOWN])
    for pk, write in Decision.objects.filter(write__in=list(bad)).values_list("entry", "write"):
        found.setdefault(pk, bad[write] or "The bank refused it.")
    return found


def may_undo(job: Job) -> bool:
    """Whether something was decided by it, and nobody has taken that back."""
    if job.kind != deciding.KIND or not job.ended or not rows_of(job).exists():
        return False
    return not Job.objects.filter(kind=undoing.KIND, params__job=job.pk).exclude(state=Job.State.FAILED).exists()


def running_of(user: Any) -> list[tuple[Job, Progress]]:
    """This person's latest bulk acts that are not over."""
    latest = list(Job.objects.filter(owner=user, kind__in=KINDS).order_by("-pk")[:3])
    found = [(job, progress_of(job)) for job in latest]
    return [(job, progress) for job, progress in found if not is_over(job, progress)]

"""What a bulk act of the archive shows: how far it is, each of its rows, and what can be done about it."""

from dataclasses import dataclass
from typing import Any

from django.db.models import Count as CountOf
from django.db.models import QuerySet

from banks.access import banks_for
from banks.models import Job, JobItem, Role, Write
from reviews.models import FactDecision

KINDS = RESTORE, RETIRE = ("restore-facts", "retire-again")
ITEMS_SHOWN = 100
BANKS_SHOWN = 20
BAD = [Write.State.ATTENTION, Write.State.CHANGED]


@dataclass(frozen=True)
class Progress:
    """A group of rows as they stand. `handled`: those that have ended, or wait for a person."""

    total: int
    done: int
    refused: int
    cancelled: int
    waiting: int

    @property
    def handled(self) -> int:
        return self.total - self.waiting


def running_of(user: Any) -> list[tuple[Job, Progress]]:
    """This person's latest acts that have not ended."""
    latest = Job.objects.filter(owner=user, kind__in=KINDS).order_by("-pk")[:3]
    found = [(job, progress_of(job)) for job in latest]
    return [(job, progress) for job, progress in found if not job.ended or progress.waiting]


def rows_of(job: Job) -> QuerySet[Write]:
    return Write.objects.filter(group=job.params["group"])


def progress_of(job: Job) -> Progress:
    states = dict(rows_of(job).order_by().values_list("state").annotate(CountOf("pk")))
    waiting = sum(states.get(state, 0) for state in Write.OPEN)
    bad = sum(states.get(state, 0) for state in BAD)
    done, cancelled = states.get(Write.State.DONE, 0), states.get(Write.State.CANCELLED, 0)
    return Progress(sum(states.values()), done, bad, cancelled, waiting)


def items_of(job: Job, after: int) -> tuple[list[tuple[Write, str]], int]:
    """(rows with the beginning of their fact's text, the next page's cursor or 0); what was refused comes first."""
    rows = rows_of(job).select_related("bank").defer("facts_before")
    refused = list(rows.filter(state__in=BAD).order_by("pk")[:ITEMS_SHOWN]) if not after else []
    others = list(rows.filter(pk__gt=after).exclude(state__in=BAD).order_by("pk")[: ITEMS_SHOWN + 1])
    more = others[ITEMS_SHOWN - 1].pk if len(others) > ITEMS_SHOWN else 0
    found = [*refused, *others[:ITEMS_SHOWN]]
    pks = [write.params.get("decision") for write in found]
    texts = dict(FactDecision.objects.filter(pk__in=[pk for pk in pks if pk]).values_list("pk", "preview"))
    return [(write, texts.get(write.params.get("decision"), "")) for write in found], more


def skipped_of(job: Job) -> list[JobItem]:
    return list(job.items.order_by("number")[:ITEMS_SHOWN])


def refused_by(user: Any, job: Job) -> list[FactDecision]:
    """What it could not restore and is retired still: it stays selected, to be tried again."""
    rows = rows_of(job).filter(kind="restore", state__in=BAD).order_by("pk")[:ITEMS_SHOWN]
    pks = [write.params.get("decision") for write in rows]
    shelves = [FactDecision.Shelf.RETIRED, FactDecision.Shelf.AGAIN]
    banks = banks_for(user, Role.REVIEWER).values("pk")
    decisions = FactDecision.objects.filter(pk__in=[pk for pk in pks if pk], shelf__in=shelves, bank__in=banks)
    return list(decisions.select_related("bank").order_by("-at", "-pk"))


def banks_of(job: Job) -> list[int]:
    """The banks it was about, for what their servers say since."""
    return [int(pk) for pk in rows_of(job).order_by().values_list("bank_id", flat=True).distinct()[:BANKS_SHOWN]]


def may_undo(job: Job) -> bool:
    """Whether something of a bulk restore is there to be taken back, and nobody has done that."""
    if job.kind != RESTORE or not job.ended:
        return False
    restored = rows_of(job).filter(state__in=[*Write.OPEN, Write.State.DONE])
    return restored.exists() and not Write.objects.filter(kind="retire", undo_of__in=restored).exists()

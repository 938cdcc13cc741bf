"""Endpoints: files of agents' tools into the queue and the write log, and what became of each line."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Schema
from ninja.responses import Status

from banks import access
from banks.api.asking import LONGEST_ID, Ambiguous, asker, bank_named, server_named
from banks.api.once import once
from banks.api.routes import LARGEST_PK
from banks.models import Bank, Job, Role
from banks.operations import acts
from memadmin.accounts.models import User
from memadmin.api.errors import Refused
from reviews.api.receiving import FILE_BODY, received
from reviews.importing import job as queue_job
from reviews.importing import log_job
from reviews.selectors import imports

router = Router(tags=["imports"])
KINDS = (queue_job.KIND, log_job.KIND, acts.KIND)
COUNTED = ("lines", *imports.OUTCOMES, "pending_in_the_tool", "clipped", "undated", "joined", "recorded")
Name = Annotated[str, Query(max_length=100)]
# Files of one token that wait or are read: each may fill a part of the disk.
MOST_WAITING, TRY_AGAIN = 20, 30  # seconds
NO_JOB = "There is no such work, or another token started it."


class CountOut(Schema):
    what: str
    count: int


class LineOut(Schema):
    """`document_id` is empty where the line could not be read."""

    line: int
    document_id: str
    reason: str


class JobOut(Schema):
    """`state`: queued, running, done, failed or cancelled; `total` is null while it is not known. `counts`: of lines,
    by what became of them, once it is done. `lines`: those that were asked for; the next ones are `after` the last."""

    id: int
    kind: str
    title: str
    state: str
    done: int
    total: int | None
    counts: list[CountOut]
    kinds: list[CountOut]
    lines: list[LineOut]
    more: bool
    group: UUID | None
    error: str
    created: datetime
    started: datetime | None
    finished: datetime | None

    @classmethod
    def of(cls, job: Job, listed: str = "skipped", after: int = 0) -> "JobOut":
        page, result = imports.lines_of(job, listed, after), job.result
        same = ("kind", "title", "state", "done", "total", "error", "created", "started", "finished")
        return cls(
            **{name: getattr(job, name) for name in same},
            id=job.pk,
            counts=[CountOut(what=name, count=result[name]) for name in COUNTED if name in result],
            kinds=[CountOut(what=name, count=count) for name, count in sorted(result.get("kinds", {}).items())],
            lines=[LineOut(line=row.number, document_id=row.document_id, reason=row.reason) for row in page.rows],
            more=bool(page.after),
            group=job.params.get("group"),
        )


@router.post(
    "/imports/queue",
    response={202: JobOut},
    operation_id="import_queue",
    summary="Import a review-queue.jsonl",
    openapi_extra=FILE_BODY,
)
def queue(
    request: HttpRequest, machine: Annotated[str, Query(max_length=200)] = "", server: Name = "", localhost: Name = ""
) -> Status[Any] | HttpResponse:
    """`machine`: whose file it is. `server`: every line means this one; `localhost`: what its own machine means."""
    user = asker(request)
    if not access.banks_for(user, Role.REVIEWER).exists():
        raise PermissionDenied("This token may not review in any bank.")
    _not_too_many(user)
    every, its_own = (server_named(user, name) if name else None for name in (server, localhost))
    with received(request) as file:

        def act() -> tuple[int, JobOut]:
            job = queue_job.start_kept(
                file.name, owner=user, machine=machine.replace("\x00", ""), server=every, localhost=its_own
            )
            file.taken = True
            return 202, JobOut.of(job)

        return once(request, act, body=file.sha)


@router.post(
    "/imports/log",
    response={202: JobOut, 409: Ambiguous},
    operation_id="import_log",
    summary="Import the log.jsonl of an agent's tool into a bank's write log",
    openapi_extra=FILE_BODY,
)
def log(
    request: HttpRequest, bank: Annotated[str, Query(min_length=1, max_length=LONGEST_ID)], server: Name = ""
) -> Status[Any] | HttpResponse:
    """The file names no bank. Nothing is sent to it."""
    user = asker(request)
    found = bank_named(user, bank, server, Role.REVIEWER)
    _not_too_many(user)
    with received(request) as file:

        def act() -> tuple[int, JobOut]:
            job = log_job.start_kept(file.name, user=user, bank_id=found.pk)
            file.taken = True
            return 202, JobOut.of(job)

        return once(request, act, body=file.sha)


@router.get(
    "/jobs/{int:job_id}", response=JobOut, operation_id="job", summary="How far a work is, and what became of it"
)
def job(
    request: HttpRequest,
    job_id: int,
    lines: Literal["skipped", "parked", "older", "superseded"] = "skipped",
    after: Annotated[int, Query(ge=0, le=2**31 - 1)] = 0,
) -> JobOut:
    return JobOut.of(_job(asker(request), job_id), lines, after)


def _not_too_many(user: User) -> None:
    waiting = Job.objects.filter(owner=user, params__token=user.token.pk).exclude(state__in=Job.ENDED)
    if waiting.count() >= MOST_WAITING:
        told = f"{MOST_WAITING} works of this token have not ended. Nothing was imported: wait for one of them."
        raise Refused(429, told, headers={"Retry-After": str(TRY_AGAIN)})


def _job(user: User, pk: int) -> Job:
    """One that this token started, while it may see the bank that the work is about."""
    started = Job.objects.filter(owner=user, params__token=user.token.pk, kind__in=KINDS)
    job = started.filter(pk=pk).first() if 0 < pk <= LARGEST_PK else None
    if job is None:
        raise Refused(404, NO_JOB)
    if bank := Bank.objects.select_related("server").filter(pk=job.params.get("bank")).first():
        access.require(user, bank, Role.VIEWER)
    return job

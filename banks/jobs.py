"""Long work a person waits for, as rows: claimed, resumed, ended exactly once. The page polls the row.

A handler does its work in steps. Each step is one short transaction that holds the step's rows *and* the progress, so
that a worker killed at any instant leaves whole steps behind and the next one goes on from the stored cursor. A worker
that lost its claim (it was too slow, somebody else went on) cannot commit another step.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import F, Q
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError

from banks import pulse
from banks.models import Job, JobItem
from banks.services import tokens
from memadmin.accounts.models import User

logger = logging.getLogger(__name__)

CLAIMS_PER_STEP = 2  # a step renews only at its end
HANGS_AFTER = 180.0  # seconds without a step or a heartbeat
SLICE_SECONDS = 120.0  # a task ends after this and queues its own continuation
ROWS_PER_STEP = 2_000
MOST_STARTS = 5  # without any progress in between: the work itself is what kills its workers

Handler = Callable[["Run"], dict[str, Any]]
_handlers: dict[str, Handler] = {}
_after: dict[str, Callable[[Job], None]] = {}


class JobError(Exception):
    """The work cannot be done; str() is a sentence for the person who waits."""


class LostClaim(Exception):
    """Another worker went on with this job: nothing of this step was stored."""


class _SliceOver(Exception):
    """Time to let others have the worker."""


def register(kind: str, handler: Handler, *, after: Callable[[Job], None] | None = None) -> None:
    """`handler(run)` does the work and returns the result; `after(job)` tidies up once the job has ended, however."""
    _handlers[kind] = handler
    if after is not None:
        _after[kind] = after


def start(*, kind: str, owner: User | None, title: str, params: dict[str, Any], here: bool = False) -> Job:
    """Stores the job and tells a worker after the surrounding transaction.

    `here`: the caller runs it itself, at once; should it die, the sweep finds a worker. Where a program starts it, it
    acts with what the program's token leaves of the owner's rights, and ends with the token.
    """
    if owner is not None and owner.token is not None:
        params = {**params, "token": owner.token.pk}
    job = Job.objects.create(kind=kind, owner=owner, title=title[:300], params=params)
    if not here:
        transaction.on_commit(lambda: dispatch(job.pk))
    return job


def restart(job_id: int, *, params: dict[str, Any]) -> bool:
    """Runs an ended job once more, with other parameters: for work that goes on now and then, kept as one row.

    False when there is no such job or it has not ended; then nothing changes.
    """
    values = {"state": Job.State.QUEUED, "params": params, "cursor": {}, "done": 0, "total": None, "error": ""}
    with transaction.atomic():
        if not Job.objects.filter(pk=job_id, state__in=Job.ENDED).update(**values, attempts=0, finished=None):
            return False
        JobItem.objects.filter(job=job_id).delete()
        transaction.on_commit(lambda: dispatch(job_id))
    return True


def dispatch(job_id: int) -> None:
    """Tells a worker. A broker that is away loses nothing: the sweep tells it later."""
    from banks.tasks import run_job

    try:
        run_job.apply_async((job_id,))
    except (BrokerError, OSError) as error:
        logger.warning("the broker does not answer (%s): job %s waits for the sweep", type(error).__name__, job_id)


def person_of(job: Job) -> User:
    """Who started it, with what they may do now: by a token, what that leaves of it. Raises JobError."""
    by_token = job.params.get("token")
    owners = User.objects.filter(jobs=job, is_active=True)
    person = owners.first() if by_token is None else tokens.holder_of(by_token)
    if person is None:
        what = (
            "person who started it has no account here" if by_token is None else "token that started it does not work"
        )
        raise JobError(f"The {what} any more. What was done until then stays.")
    return person


@dataclass
class Run:
    """One worker's hold on a job."""

    job: Job
    deadline: float | None = None  # of time.monotonic(); None = until it has ended
    on_progress: Callable[[Job], None] | None = None
    cursor: dict[str, Any] = field(default_factory=dict)
    moved: float = field(default_factory=time.monotonic)
    # The time until which we hold the job is the token: it must not change in the middle of a step.
    stepping: threading.Lock = field(default_factory=threading.Lock)

    @property
    def params(self) -> dict[str, Any]:
        params: dict[str, Any] = self.job.params
        return params

    @contextmanager
    def step(self, *, done: int, cursor: dict[str, Any], total: int | None = None) -> Iterator[None]:
        """One transaction: what the body stores, and that it is stored. Raises LostClaim instead of committing."""
        with self.stepping, transaction.atomic():
            yield
            self._hold(done=done, cursor=cursor, total=self.job.total if total is None else total, attempts=0)
        self.cursor = cursor
        if self.on_progress is not None:
            self.on_progress(self.job)
        if self.deadline is not None and time.monotonic() > self.deadline:
            raise _SliceOver

    def heartbeat(self, *, done: int | None = None, total: int | None = None) -> None:
        """Says that the work goes on, and how far it is, where it stores nothing for minutes."""
        with self.stepping:
            self._hold(done=self.job.done if done is None else done, total=self.job.total if total is None else total)

    def renew(self) -> bool:
        """Keeps the claim between two steps; False when it is lost, or when nothing has moved for too long."""
        if time.monotonic() - self.moved > HANGS_AFTER:
            return False
        if not self.stepping.acquire(blocking=False):
            return True  # a step renews by itself
        try:
            until = _until()
            renewed = bool(_held(self.job).update(claimed_until=until))
            if renewed:
                self.job.claimed_until = until
            return renewed
        finally:
            self.stepping.release()

    def _hold(self, **values: Any) -> None:
        until = _until()
        if not _held(self.job).update(claimed_until=until, **values):
            raise LostClaim
        self.moved = time.monotonic()
        self.job.claimed_until = until
        for name, value in values.items():
            setattr(self.job, name, value)


def run(job_id: int, *, slice_seconds: float | None = SLICE_SECONDS, on_progress: Any = None) -> str:
    """Works on the job until it has ended or the slice is over. Safe to call twice and at once.

    Returns a short word: the state it ended in, or `goes on`, `later` (the database was away), `not ours`.
    """
    job = _claim(job_id)
    if job is None:
        return "not ours"
    if job.attempts > MOST_STARTS:
        return _end(job, Job.State.FAILED, error=f"It stopped {MOST_STARTS} times without getting further.")
    deadline = None if slice_seconds is None else time.monotonic() + slice_seconds
    try:
        if "token" in job.params:
            job.owner = person_of(job)
        work = Run(job, deadline, on_progress, dict(job.cursor))
        with pulse.held(work.renew):
            result = _handler_of(job)(work)
    except _SliceOver:
        _held(job).update(claimed_until=None)
        dispatch(job.pk)
        return "goes on"
    except LostClaim:
        return "not ours"
    except (OperationalError, InterfaceError):
        logger.exception("job %s: the database was away, the sweep goes on", job.pk)
        return "later"
    except JobError as error:
        return _end(job, Job.State.FAILED, error=str(error))
    except Exception as error:
        # The text may hold what somebody else wrote: it goes to the log of the operator, not to the page.
        logger.exception("job %s failed", job.pk)
        return _end(job, Job.State.FAILED, error=f"It failed by a fault of ours ({type(error).__name__}).")
    return _end(job, Job.State.DONE, result=result)


def sweep() -> int:
    """Dispatches what no worker holds: killed workers, lost messages, a broker that was away."""
    now = timezone.now()
    waiting = Q(state=Job.State.QUEUED, created__lt=now - timedelta(seconds=20)) | Q(state=Job.State.RUNNING)
    free = Q(claimed_until__isnull=True) | Q(claimed_until__lt=now)
    due = list(Job.objects.filter(waiting, free).order_by("id").values_list("pk", flat=True)[:100])
    for job_id in due:
        dispatch(job_id)
    return len(due)


def _claim(job_id: int) -> Job | None:
    now, until = timezone.now(), _until()
    free = Q(claimed_until__isnull=True) | Q(claimed_until__lt=now)
    mine = Job.objects.filter(free, pk=job_id, state__in=[Job.State.QUEUED, Job.State.RUNNING])
    if not mine.update(state=Job.State.RUNNING, claimed_until=until, attempts=F("attempts") + 1):
        return None
    Job.objects.filter(pk=job_id, started__isnull=True).update(started=now)
    job = Job.objects.select_related("owner").get(pk=job_id)
    job.claimed_until = until  # never the token of a worker that was quicker
    return job


def _until() -> datetime:
    return timezone.now() + CLAIMS_PER_STEP * pulse.claim_time()


def _held(job: Job) -> Any:
    """The row, as long as it is ours: the time until which we claimed it is the token."""
    return Job.objects.filter(pk=job.pk, state=Job.State.RUNNING, claimed_until=job.claimed_until)


def _handler_of(job: Job) -> Handler:
    try:
        return _handlers[job.kind]
    except KeyError:
        raise JobError(f"This installation does not know work of the kind “{job.kind}”.") from None


def _end(job: Job, state: Job.State, *, error: str = "", result: dict[str, Any] | None = None) -> str:
    values = {"state": state, "error": error, "result": result or {}, "finished": timezone.now(), "claimed_until": None}
    if not _held(job).update(**values):
        return "not ours"
    for name, value in values.items():
        setattr(job, name, value)
    if job.kind in _after:
        _after[job.kind](job)
    return str(state.value)

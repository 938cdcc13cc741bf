"""What a refresh would write, asked without writing it: a job, since models take their time. It is kept for a day."""

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from banks import access, jobs
from banks.hindsight import HindsightClient, Invalid, NotFound, RefreshTrial, Retired, Timeout
from banks.models import Bank, Job, JobItem, Role
from banks.recall.opening import asking
from memadmin.accounts.models import User
from memadmin.retention import head_of

KIND = "model-trial"
READ_TIMEOUT = 150.0  # seconds; a work that stores nothing for longer than 180 counts as hanging
KEPT = 200_000  # bytes of a text
KEPT_FOR = timedelta(days=1)
NO_METHOD = 405
NOT_OFFERED = "This server offers no dry run of a refresh. Nothing was written."
TOO_LONG = f"The server did not answer within {READ_TIMEOUT:.0f} seconds. Nothing was written."


@dataclass(frozen=True)
class Trial:
    """`writes`: whether a refresh would store `after`; `outcome`, `fallback`: the server's words."""

    before: str
    after: str
    outcome: str
    writes: bool
    mode: str
    fallback: str
    retrieved: int
    used: int
    tokens: int
    warnings: list[str]
    cut: bool


def start(*, user: User, bank: Bank, model_id: str) -> Job:
    """The one that is under way, when this person has asked already."""
    access.require(user, bank, Role.REVIEWER)
    params = {"bank": bank.pk, "model": model_id}
    for job in Job.objects.filter(kind=KIND, owner=user).exclude(state__in=Job.ENDED).order_by("-pk"):
        if job.params == params:
            return job
    return jobs.start(kind=KIND, owner=user, title=f"Dry run of a refresh in {bank}", params=params)


def result_of(job: Job) -> Trial | None:
    item = job.items.first()
    return Trial(**json.loads(bytes(item.raw))) if item else None


def forget() -> int:
    """Removes what was tried longer than `KEPT_FOR` ago. Idempotent."""
    old = Job.objects.filter(kind=KIND, created__lt=timezone.now() - KEPT_FOR)
    return old.filter(state__in=Job.ENDED).delete()[0]


def _run(run: jobs.Run) -> dict[str, Any]:
    if run.job.items.exists():
        return {"tried": 1}
    with asking(run, Role.REVIEWER, read_timeout=READ_TIMEOUT) as (client, bank):
        found = _tried(client, bank, run.params["model"])
    before, after = head_of(found.before, KEPT), head_of(found.after, KEPT)
    told = {name: getattr(found, name) for name in ("outcome", "writes", "mode", "fallback", "retrieved", "used")}
    told |= {"tokens": found.tokens, "warnings": [each[:300] for each in found.warnings[:20]]}
    told |= {"before": before.text, "after": after.text, "cut": before.truncated or after.truncated}
    with run.step(done=1, cursor={"at": 1}, total=1):
        raw = json.dumps(told, ensure_ascii=False).encode("utf-8", "replace")
        JobItem.objects.create(job=run.job, number=1, outcome="tried", raw=raw)
    return {"tried": 1}


def _tried(client: HindsightClient, bank: Bank, model_id: str) -> RefreshTrial:
    """Raises JobError where the server, or the model, offers no dry run; other errors as they come."""
    try:
        return client.try_refresh(bank.bank_id, model_id)
    except Timeout:
        raise jobs.JobError(TOO_LONG) from None
    except (NotFound, Retired, Invalid) as error:
        refused = isinstance(error, NotFound) and error.what != "route"
        if refused or (isinstance(error, Invalid) and error.status != NO_METHOD):
            raise jobs.JobError(f"{error.detail} Nothing was written.") from error
        raise jobs.JobError(NOT_OFFERED) from error


jobs.register(KIND, _run)

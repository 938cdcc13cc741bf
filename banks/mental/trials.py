"""What a refresh would write, asked without writing it: a job, since models take their time. It is kept for a day."""

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from banks import access, connections, jobs
from banks.hindsight import HindsightError, Invalid, NotFound, Retired, Timeout
from banks.models import Bank, Job, JobItem, Role
from memadmin.accounts.models import User
from memadmin.retention import head_of

KIND = "model-trial"
READ_TIMEOUT = 150.0  # seconds; a work that stores nothing for longer than 180 counts as hanging
KEPT = 200_000  # bytes of a text
KEPT_FOR = timedelta(days=1)
NO_METHOD = 405
NO_RIGHT = "You may not refresh models of this bank any more."
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
    bank = Bank.objects.select_related("server").filter(pk=run.params["bank"]).first()
    role = access.role_on(jobs.person_of(run.job), bank) if bank else None
    if bank is None or role is None or role < Role.REVIEWER:
        raise jobs.JobError(NO_RIGHT)
    if run.job.items.exists():
        return {"tried": 1}
    try:
        with connections.talking_to(bank.server, read_timeout=READ_TIMEOUT) as client:
            found = client.try_refresh(bank.bank_id, run.params["model"])
    except Timeout:
        raise jobs.JobError(TOO_LONG) from None
    except (NotFound, Retired, Invalid) as error:
        refused = isinstance(error, NotFound) and error.what != "route"
        if refused or (isinstance(error, Invalid) and error.status != NO_METHOD):
            raise jobs.JobError(f"{error.detail} Nothing was written.") from error
        raise jobs.JobError(NOT_OFFERED) from error
    except HindsightError as error:
        raise jobs.JobError(f"{error} Nothing was written.") from error
    before, after = head_of(found.before, KEPT), head_of(found.after, KEPT)
    told = {name: getattr(found, name) for name in ("outcome", "writes", "mode", "fallback", "retrieved", "used")}
    told |= {"tokens": found.tokens, "warnings": [each[:300] for each in found.warnings[:20]]}
    told |= {"before": before.text, "after": after.text, "cut": before.truncated or after.truncated}
    with run.step(done=1, cursor={"at": 1}, total=1):
        raw = json.dumps(told, ensure_ascii=False).encode("utf-8", "replace")
        JobItem.objects.create(job=run.job, number=1, outcome="tried", raw=raw)
    return {"tried": 1}


jobs.register(KIND, _run)

"""The servers' own search in many banks, as a job. What it finds is kept for an hour, for who asked, and looked at with
the rights of that moment."""

import json
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.utils import timezone

from banks import access, jobs, searching
from banks.models import Job, JobItem
from memadmin.accounts.models import User

KIND = "bank-search"
FRESH = timedelta(minutes=10)  # the same question again is answered by what is there
AT_ONCE = 3  # of one person
KEPT = timedelta(hours=1)
FOUND, NOTHING, FAILED = "found", "nothing", "failed"


def start(*, user: User, words: str, banks: Sequence[int], shown: dict[str, str], again: bool = False) -> Job:
    """`banks`: primary keys; `shown`: the filters of the page, for whoever looks at it later.

    The one that is there, when it is fresh and not asked for `again`. Of those that a person has not waited for the
    oldest are stopped.
    """
    if not again and (there := fresh(user=user, shown=shown)):
        return there
    for left in Job.objects.filter(kind=KIND, owner=user).exclude(state__in=Job.ENDED).order_by("-pk")[AT_ONCE - 1 :]:
        stop(user=user, job=left)
    params = {"words": words, "banks": list(banks), "shown": shown}
    return jobs.start(kind=KIND, owner=user, title=f"Search the banks for “{words}”", params=params)


def fresh(*, user: User, shown: dict[str, str]) -> Job | None:
    """The latest one of this person with these filters."""
    mine = Job.objects.filter(kind=KIND, owner=user, created__gte=timezone.now() - FRESH)
    mine = mine.exclude(state__in=[Job.State.FAILED, Job.State.CANCELLED]).order_by("-pk")[:20]
    return next((job for job in mine if job.params["shown"] == shown), None)


def stop(*, user: User, job: Job) -> bool:
    """Asks no more; what was found stays. A worker that is at it loses its claim."""
    values = {"state": Job.State.CANCELLED, "finished": timezone.now(), "claimed_until": None}
    open_ones = Job.objects.filter(pk=job.pk, kind=KIND).exclude(state__in=Job.ENDED)
    return bool(open_ones.update(**values, result={"stopped_by": user.display_name}))


def forget() -> int:
    """Removes what was found and is older than `KEPT`. Idempotent."""
    old = Job.objects.filter(kind=KIND, created__lt=timezone.now() - KEPT)
    return old.delete()[0]


def _run(run: jobs.Run) -> dict[str, Any]:
    asked = {pk: number for number, pk in enumerate(run.params["banks"], start=1)}
    there = set(run.job.items.values_list("number", flat=True))
    seen = access.banks_for(jobs.person_of(run.job)).select_related("server").filter(pk__in=asked)
    waiting = [bank for bank in seen.order_by("pk") if asked[bank.pk] not in there]
    answers = searching.ask(waiting, run.params["words"])
    done = len(there)
    try:
        for lot in answers:
            if not lot:
                run.heartbeat(total=len(asked))
                continue
            done += len(lot)
            with run.step(done=done, cursor={"at": done}, total=len(asked)):
                JobItem.objects.bulk_create([_item(run.job, asked[bank.pk], looked) for bank, looked in lot])
    finally:
        answers.close()  # its threads end with it
    return {"banks": done}


def _item(job: Job, number: int, looked: searching.Looked) -> JobItem:
    outcome = FAILED if looked.failed else FOUND if looked.any else NOTHING
    raw = json.dumps(looked.as_json, ensure_ascii=False).encode("utf-8", "replace") if outcome == FOUND else b""
    return JobItem(job=job, number=number, outcome=outcome, reason=looked.failed[:300], raw=raw)


jobs.register(KIND, _run)

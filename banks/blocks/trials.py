"""What a bank says for the markers of a file that a person tries: a job, since a bank may take its time.

Of the file only its markers are kept, with what the bank said, for a day and for who asked.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from typing import Any

from django.utils import timezone

from banks import access, jobs
from banks.blocks import frozen, markers
from banks.blocks.markers import Marker
from banks.blocks.profile import Profile
from banks.models import Bank, Job, JobItem, Role
from banks.reading import Unread
from memadmin.accounts.models import User

KIND = "agents-file"
KEPT = timedelta(days=1)


def start(*, user: User, bank: Bank, asked: Sequence[Marker]) -> Job:
    """The one that is under way, when this person has asked for the same already."""
    access.require(user, bank, Role.VIEWER)
    params = {"bank": bank.pk, "markers": [str(each) for each in dict.fromkeys(asked)]}
    for job in Job.objects.filter(kind=KIND, owner=user).exclude(state__in=Job.ENDED).order_by("-pk"):
        if job.params == params:
            return job
    return jobs.start(kind=KIND, owner=user, title=f"What {bank} says for markers", params=params)


def ended(*, user: User, bank: Bank, pk: int | None) -> Job | None:
    """The work of this number, when it is this person's, about this bank, and over."""
    job = Job.objects.filter(pk=pk or 0, kind=KIND, owner=user, state__in=Job.ENDED).first()
    return job if job and job.params["bank"] == bank.pk else None


def told_by(job: Job) -> dict[Marker, Profile]:
    """So far."""
    rows = job.items.order_by("number")
    asked = [markers.read(each) for each in job.params["markers"]]
    return {asked[row.number - 1]: Profile(**json.loads(bytes(row.raw))) for row in rows}


def unread_by(job: Job) -> str:
    """Why the bank says nothing more; "" where it said all."""
    return "" if job.state == Job.State.DONE else job.error or "It ended without an answer."


def forget() -> int:
    """Removes markers and what was said for them, older than `KEPT`. Idempotent."""
    old = Job.objects.filter(kind=KIND, created__lt=timezone.now() - KEPT)
    return old.filter(state__in=Job.ENDED).delete()[0]


def _run(run: jobs.Run) -> dict[str, Any]:
    bank = Bank.objects.select_related("server").filter(pk=run.params["bank"]).first()
    if bank is None or access.role_on(jobs.person_of(run.job), bank) is None:
        raise jobs.JobError(frozen.NO_RIGHT)
    asked = run.params["markers"]
    while (at := run.cursor.get("at", 0)) < len(asked):
        marker = markers.read(asked[at])
        try:
            made = frozen.recall(bank, marker) if marker.kind == "query" else frozen.read(bank, marker)[0]
        except Unread as unread:
            raise jobs.JobError(unread.sentence) from unread
        with run.step(done=at + 1, cursor={"at": at + 1}, total=len(asked)):
            raw = json.dumps(asdict(made), ensure_ascii=False).encode("utf-8", "replace")
            JobItem.objects.create(job=run.job, number=at + 1, outcome="told", raw=raw)
    return {"told": len(asked)}


jobs.register(KIND, _run)

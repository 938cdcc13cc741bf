"""What a bank recalls for the markers of a file that a person tries: a job, since a recall may take its time."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from banks import access, jobs
from banks.blocks import frozen, markers
from banks.blocks.markers import Marker
from banks.blocks.profile import Profile
from banks.models import Bank, Job, JobItem, Role
from banks.reading import Unread
from memadmin.accounts.models import User

KIND = "agents-file"


def start(*, user: User, bank: Bank, asked: Sequence[Marker]) -> Job:
    """The one that is under way, when this person has asked for the same already."""
    access.require(user, bank, Role.VIEWER)
    params = {"bank": bank.pk, "markers": [str(each) for each in dict.fromkeys(asked)]}
    for job in Job.objects.filter(kind=KIND, owner=user).exclude(state__in=Job.ENDED).order_by("-pk"):
        if job.params == params:
            return job
    return jobs.start(kind=KIND, owner=user, title=f"Recall from {bank}", params=params)


def recalled_by(job: Job) -> dict[Marker, Profile]:
    """So far."""
    rows = job.items.order_by("number")
    asked = [markers.read(each) for each in job.params["markers"]]
    return {asked[row.number - 1]: Profile(**json.loads(bytes(row.raw))) for row in rows}


def _run(run: jobs.Run) -> dict[str, Any]:
    bank = Bank.objects.select_related("server").filter(pk=run.params["bank"]).first()
    if bank is None or access.role_on(jobs.person_of(run.job), bank) is None:
        raise jobs.JobError(frozen.NO_RIGHT)
    asked = run.params["markers"]
    while (at := run.cursor.get("at", 0)) < len(asked):
        try:
            made = frozen.recall(bank, markers.read(asked[at]))
        except Unread as unread:
            raise jobs.JobError(f"{unread.sentence} Nothing was changed.") from unread
        with run.step(done=at + 1, cursor={"at": at + 1}, total=len(asked)):
            raw = json.dumps(asdict(made), ensure_ascii=False).encode("utf-8", "replace")
            JobItem.objects.create(job=run.job, number=at + 1, outcome="recalled", raw=raw)
    return {"recalled": len(asked)}


jobs.register(KIND, _run)

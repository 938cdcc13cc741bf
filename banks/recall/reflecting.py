"""A question to a bank that a language model answers, as a job. Each costs, so none is asked again by itself."""

import time
from typing import Any

from banks import access, jobs
from banks.models import Bank, Job, Role
from banks.recall import kept, works
from banks.recall.asked import Asked
from banks.recall.opening import asking
from memadmin.accounts.models import User

KIND = works.REFLECT
READ_TIMEOUT = 150.0  # seconds; a work that stores nothing for longer than 180 counts as hanging
INTERRUPTED = (
    "The work was stopped while the server was answering. It is not asked again by itself: each answer costs. "
    "Ask once more if you still want it."
)


def start(*, user: User, bank: Bank, asked: Asked) -> Job:
    """For reviewers: it has a model work. 404 / 403 as `access.require`."""
    access.require(user, bank, Role.REVIEWER)
    return works.begin(KIND, user=user, bank=bank, asked=asked, title=f"Reflect in {bank}")


def _run(run: jobs.Run) -> dict[str, Any]:
    """The server makes a bank of an id that it does not know, so `asking` has looked whether it is there.

    Between that look and the call a gap remains.
    """
    if run.job.items.exists():
        return {}
    if run.cursor.get("asked"):
        raise jobs.JobError(INTERRUPTED)
    asked = Asked.parse(run.params["asked"])
    with asking(run, Role.REVIEWER, read_timeout=READ_TIMEOUT) as (client, bank):
        with run.step(done=0, cursor={"asked": True}, total=1):
            pass
        began = time.monotonic()
        told = client.reflect(bank.bank_id, asked.reflect())
        took = time.monotonic() - began
    works.store(run, kept.of_reflect(told, took), "answered")
    return {"tokens": told.tokens}


jobs.register(KIND, _run)

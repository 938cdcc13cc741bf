"""A query to a bank as a job: it only reads."""

import time
from typing import Any

from banks import access, jobs
from banks.models import Bank, Job, Role
from banks.recall import kept, works
from banks.recall.asked import Asked
from banks.recall.block import not_sent
from banks.recall.opening import asking
from memadmin.accounts.models import User

KIND = works.RECALL
READ_TIMEOUT = 60.0  # seconds; twice what agents wait
NO_WORD = "the query has no word that a bank could be asked for"


def start(*, user: User, bank: Bank, asked: Asked) -> Job:
    """For reviewers: it has the server work. 404 / 403 as `access.require`."""
    access.require(user, bank, Role.REVIEWER)
    return works.begin(KIND, user=user, bank=bank, asked=asked, title=f"Recall in {bank}")


def _run(run: jobs.Run) -> dict[str, Any]:
    if run.job.items.exists():
        return {}
    asked = Asked.parse(run.params["asked"])
    if not asked.has_words:
        works.store(run, kept.of_nothing(not_sent(NO_WORD)), "not sent")
        return {"hits": 0}
    with asking(run, Role.REVIEWER, read_timeout=READ_TIMEOUT) as (client, bank):
        began = time.monotonic()
        told = client.recall_in_full(bank.bank_id, asked.recall(trace=True))
        took = time.monotonic() - began
    works.store(run, kept.of_recall(asked, told, took), "recalled")
    return {"hits": len(told.hits)}


jobs.register(KIND, _run)

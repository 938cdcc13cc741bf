"""What the tests of recall share: asking a bank as the desk does, and saving what came."""

from typing import Any

from banks import jobs
from banks.models import Bank, Job, RecallCheck
from banks.recall import checks, recalling, saving
from banks.recall.asked import Asked
from memadmin.accounts.models import User

ANN, BEN = "Ann keeps the ledger.", "Ben reads it."
QUESTION = "Who keeps the ledger?"


def recall(user: User, bank: Bank, query: str = QUESTION, **asked: Any) -> Job:
    """A query that has been answered, or has failed."""
    job = recalling.start(user=user, bank=bank, asked=Asked(query, **asked))
    jobs.run(job.pk)
    job.refresh_from_db()
    return job


def save(
    user: User, bank: Bank, query: str = QUESTION, *, picks: tuple[int, ...] = (1,), name: str = "Ledger"
) -> RecallCheck:
    return saving.save(user=user, job=recall(user, bank, query), name=name, picks=picks)


def ask_now(check: RecallCheck, user: User) -> str:
    """A turn of the worker, whatever the time; `check` is as it is then."""
    checks.ask_now(user=user, check=check)
    said = checks.run(check.pk)
    check.refresh_from_db()
    return said

"""What `banks` asks of us: how much waits for a person, and what follows from a new policy."""

from collections.abc import Collection, Set
from datetime import datetime
from typing import Any

from django.db.models import Count, Min, QuerySet
from django.utils import timezone

from banks import hooks, jobs
from banks.models import Bank
from memadmin.counting import count_of
from reviews.models import ReviewEntry
from reviews.services import expiry

KIND = "expiry-dates"
AT_ONCE = 1_000  # memories whose dates are set while the person waits
DATED_BY = {"auto_approve_days", "expire_marked", "two_reviewers"}  # what the dates depend on
NEEDED = ("version", "age_from", "first_imported_at", "danger", "reopened_because", "expires_at")


def waiting(banks: Collection[int]) -> dict[int, int]:
    found = _pending().filter(bank__in=banks).order_by().values_list("bank")
    return dict(found.annotate(Count("pk")))


def oldest(banks: Collection[int]) -> dict[int, datetime]:
    dated = _pending().filter(bank__in=banks, enqueued_at__isnull=False).order_by().values_list("bank")
    return dict(dated.annotate(Min("enqueued_at")))


def policy_changed(bank: Bank, changed: Set[str]) -> None:
    if "polled" in changed and bank.polled:
        # What was stored while nobody wanted to review it is what the bank held before: a new watermark, and
        # "review the last N days" for who wants more. Known memories are met by the walk over all documents.
        Bank.objects.filter(pk=bank.pk).update(watermark=None, poll_after=timezone.now())
    if not changed & DATED_BY:
        return
    pending = _pending().filter(bank=bank)
    if not count_of(pending, AT_ONCE).capped:
        expiry.recompute(bank=bank)
        return
    # Until a worker has set the new dates nothing of this bank is approved by time: late is better than too soon.
    pending.filter(expires_at__isnull=False).update(expires_at=None)
    jobs.start(kind=KIND, owner=None, title=f"Dates of {bank}", params={"bank": bank.pk})


def _run(run: jobs.Run) -> dict[str, Any]:
    while rows := list(_next(run)):
        # Read anew in each step: another change may have come, and its job sets everything once more.
        bank = Bank.objects.get(pk=run.params["bank"])
        with run.step(done=run.job.done + len(rows), cursor={"after": rows[-1].pk}):
            for entry in rows:
                entry.bank = bank
                expires_at = expiry.expiry_of(entry=entry, bank=bank)
                if expires_at != entry.expires_at:
                    same = ReviewEntry.objects.filter(pk=entry.pk, version=entry.version)
                    same.update(expires_at=expires_at)
    return {"looked_at": run.job.done}


def _next(run: jobs.Run) -> QuerySet[ReviewEntry]:
    after = run.cursor.get("after", 0)
    rows = _pending().filter(bank=run.params["bank"], pk__gt=after).order_by("pk")
    return rows.only(*NEEDED)[: jobs.ROWS_PER_STEP]


def _pending() -> QuerySet[ReviewEntry]:
    return ReviewEntry.objects.filter(state=ReviewEntry.State.PENDING)


hooks.after_policy_change(policy_changed)
hooks.counts_waiting(waiting)
hooks.dates_waiting(oldest)
jobs.register(KIND, _run)

"""What the jobs of recall and reflect have in common. Their queries and answers are kept for a day, for who asked."""

import json
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from banks import jobs
from banks.models import Bank, Job, JobItem
from banks.recall.asked import Asked
from memadmin.accounts.models import User

RECALL, REFLECT = "recall", "reflect"
KEPT = timedelta(days=1)


def begin(kind: str, *, user: User, bank: Bank, asked: Asked, title: str) -> Job:
    """The one that is under way, when this person is asking just this already."""
    params = {"bank": bank.pk, "asked": asked.as_json}
    with transaction.atomic():
        Bank.objects.filter(pk=bank.pk).update(name=F("name"))  # of two clicks at once the second waits, and finds it
        mine = Job.objects.filter(kind=kind, owner=user).exclude(state__in=Job.ENDED).order_by("-pk")
        same = next((job for job in mine if job.params == params), None)
        return same or jobs.start(kind=kind, owner=user, title=title, params=params)


def store(run: jobs.Run, told: dict[str, Any], outcome: str) -> None:
    """The answer and that it is there, in one step."""
    with run.step(done=1, cursor={"at": 1}, total=1):
        raw = json.dumps(told, ensure_ascii=False).encode("utf-8", "replace")
        JobItem.objects.create(job=run.job, number=1, outcome=outcome, raw=raw)


def result_of(job: Job) -> dict[str, Any] | None:
    """What `banks.recall.kept` made of the answer; None where there is none."""
    item = job.items.first()
    return dict(json.loads(bytes(item.raw))) if item else None


def forget() -> int:
    """Removes queries and answers that are older than `KEPT`. Idempotent."""
    old = Job.objects.filter(kind__in=[RECALL, REFLECT], created__lt=timezone.now() - KEPT)
    return old.filter(state__in=Job.ENDED).delete()[0]

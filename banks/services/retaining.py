"""Memories of a form into the retain queue: once, however often the form is sent."""

from uuid import UUID

from django.db import IntegrityError, transaction
from django.utils import timezone

from banks import retain
from banks.models import Job
from banks.retain import Planned
from memadmin.accounts.models import User

KIND = "retain-form"


class SentOtherwise(Exception):
    """The form was sent before, with other memories. Nothing was stored now. `job`: of the sender's own."""

    def __init__(self, job: Job | None) -> None:
        super().__init__("This form was sent before, with other memories. Nothing was stored now.")
        self.job = job


def send(*, user: User, form: UUID, planned: Planned) -> Job:
    """The record of what was sent, a work that is done: its result names the rows. Raises as `store` does,
    and SentOtherwise.

    The row with the form's id comes first, in the same transaction: of two at once the second waits for the first.
    """
    count = len(planned.items)
    noun = "memory" if count == 1 else "memories"
    try:
        with transaction.atomic():
            job = Job.objects.create(
                kind=KIND,
                once=form,
                owner=user,
                state=Job.State.DONE,
                finished=timezone.now(),
                title=f"Retain {count} {noun}",
                params={"bank": planned.bank.pk, "fingerprint": planned.fingerprint},
            )
            queued = retain.store(planned)
            job.result = {"items": [row.pk for row in queued.items], "notes": queued.notes, "again": queued.again}
            Job.objects.filter(pk=job.pk).update(result=job.result)
            return job
    except IntegrityError:
        earlier = Job.objects.filter(once=form).first()
        if earlier is None:
            raise
    own = earlier if earlier.owner_id == user.pk and earlier.kind == KIND else None
    if own is None or own.params["fingerprint"] != planned.fingerprint:
        raise SentOtherwise(own)
    return own

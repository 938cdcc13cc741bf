"""What a person may do to a row: cancel before it was sent, retry or discard what needs a person."""

from django.db import transaction
from django.utils import timezone

from banks.models import Write
from banks.writes import registry
from banks.writes.dispatch import dispatch_on_commit
from banks.writes.kind import Overruled
from memadmin.accounts.models import User

State = Write.State


def cancel(*, write: Write, unsent: bool = False) -> bool:
    """Takes back a write of which nothing has happened. False when a worker was faster; then nothing changed.

    A retrying row may be taken back too: it only retries after it was read back, or never reached the server.
    `unsent`: only what never left, for rows of which a part may have happened.
    """
    rows = Write.objects.filter(pk=write.pk, state__in=[State.QUEUED, State.RETRYING])
    if unsent:
        rows = rows.filter(sent=None)
    changed = rows.update(state=State.CANCELLED, finished=timezone.now())
    if changed:
        write.refresh_from_db()
    return bool(changed)


def retry(*, write: Write, actor: User) -> bool:
    """Puts a write that needs a person back into the queue, under the same operation id. The last error stays.

    False when it does not wait for a person any more, or something else was decided since; then nothing changed.
    """
    try:
        return _retry(write, actor)
    except Overruled:
        write.refresh_from_db()
        return False


@transaction.atomic
def _retry(write: Write, actor: User) -> bool:
    if (done := registry.get(write.kind).again(write=write, actor=actor)) is not None:
        return done
    now = timezone.now()
    changed = Write.objects.filter(pk=write.pk, state=State.ATTENTION).update(
        state=State.RETRYING,
        attempts=0,
        not_before=now,
        claimed_until=None,
        outcome={**write.outcome, "retried_by": actor.display_name, "retried_at": now.isoformat()},
    )
    if not changed:
        return False
    write.refresh_from_db()
    registry.tell(write)
    dispatch_on_commit(write.pk)
    return True


@transaction.atomic
def discard(*, write: Write, actor: User) -> bool:
    """Gives up a write that needs a person. The row and its error stay in the log."""
    now = timezone.now()
    changed = Write.objects.filter(pk=write.pk, state__in=[State.ATTENTION, State.CHANGED]).update(
        state=State.CANCELLED,
        finished=now,
        outcome={**write.outcome, "discarded_by": actor.display_name, "discarded_at": now.isoformat()},
    )
    if not changed:
        return False
    write.refresh_from_db()
    registry.tell(write)
    return True

"""Sending again what of a batch did not arrive: a new write, under a new operation, of the missing memories alone."""

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.utils import timezone

from banks.models import RetainItem, Write
from banks.retain.landing import LENGTHS
from banks.writes import Overruled, record
from banks.writes.kind import own_slot
from memadmin.accounts.models import User

State = RetainItem.State
EDITS = ("edit", "put-back")  # kinds that give a document another text


def resend(*, write: Write, actor: User) -> bool:
    """A person wants what is missing sent again. False when the batch does not wait for one any more.

    The new write first asks the server about the old operation, and sends nothing while a part of it may run. Raises
    Overruled where a newer text for one of the documents was sent since: it would be written over.
    """
    now = timezone.now()
    ended = {"finished": now, "state": Write.State.CANCELLED}
    told = {"resent_by": actor.display_name, "resent_at": now.isoformat()}
    with transaction.atomic():
        if not Write.objects.filter(pk=write.pk, state=Write.State.ATTENTION).update(
            **ended, outcome={**write.outcome, **told}
        ):
            return False
        rows = list(RetainItem.objects.filter(write=write, state=State.ATTENTION).order_by("pk"))
        if not rows or _written_since(rows):
            raise Overruled
        new = record(
            kind="retain",
            bank=write.bank,
            via=Write.Via.WEB,
            actor=actor,
            params={"memories": len(rows), "after": [*write.params.get("after", []), str(write.operation_id)]},
        )
        # It may wait for hours until the old operation has ended: what comes to this bank meanwhile does not.
        # How long the documents were tells what was appended all the same.
        lengths = {LENGTHS: write.outcome[LENGTHS]} if LENGTHS in write.outcome else {}
        Write.objects.filter(pk=new.pk).update(slot=own_slot(new), outcome=lengths)
        keys = [row.pk for row in rows]
        if RetainItem.objects.filter(pk__in=keys, state=State.ATTENTION).update(
            state=State.SENT, write=new, error=""
        ) != len(keys):
            raise Overruled
        Write.objects.filter(pk=write.pk).update(outcome={**write.outcome, **told, "resent_as": new.pk})
    write.refresh_from_db()
    return True


def _written_since(rows: list[RetainItem]) -> bool:
    later = RetainItem.objects.filter(
        bank=OuterRef("bank"),
        document_hash=OuterRef("document_hash"),
        pk__gt=OuterRef("pk"),
        state__in=[State.SENT, State.DONE],
    )
    edits = Write.objects.filter(
        bank=OuterRef("bank"),
        document_hash=OuterRef("document_hash"),
        pk__gt=OuterRef("write"),
        kind__in=EDITS,
        state__in=[*Write.OPEN, Write.State.DONE],
    )
    replacing = RetainItem.objects.filter(pk__in=[row.pk for row in rows], update_mode=RetainItem.Mode.REPLACE)
    return replacing.filter(Exists(later) | Exists(edits)).exists()

"""The one way by which a memory that was decided waits again: a person's undo, or what was seen in the bank."""

from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from banks import writes
from banks.models import Write
from reviews.models import Decision, ReviewEntry
from reviews.services.expiry import set_expiry
from reviews.services.recording import decided


def reopen(entry: ReviewEntry, *, because: str = "", **changes: Any) -> bool:
    """Pending again, and its age restarts now: only from the state and version that the instance has.

    The caller appends the decision. False: somebody was faster, nothing changed.
    """
    rows = ReviewEntry.objects.filter(pk=entry.pk, state=entry.state, version=entry.version)
    entry.reopened_because = because
    set_expiry(entry, age_from=timezone.now())
    fields = {
        "state": ReviewEntry.State.PENDING,
        "version": F("version") + 1,
        "reopened_because": because,
        "age_from": entry.age_from,
        "expires_at": entry.expires_at,
        "decided_by": "",
        "decided_via": "",
        "decided_at": None,
        **changes,
    }
    return bool(rows.update(**fields))


@transaction.atomic
def reopen_by_itself(
    entry: ReviewEntry, *, because: ReviewEntry.Reopened, note: str, answers: Write | None = None, **changes: Any
) -> bool:
    """Nobody asked for it: the bank holds something else than what was decided. Logged as observed.

    `answers`: the write whose effect is gone, or did not happen.
    """
    if not reopen(entry, because=because, **changes):
        return False
    write = writes.record(
        kind="reopen",
        bank=entry.bank,
        via=Write.Via.OBSERVED,
        document_id=entry.document_id,
        before=entry.text,
        decided_hash=entry.content_hash,
        params={"because": because.label, "note": note[:300]},
        undo_of=answers,
    )
    decided(
        entry,
        Decision.Verdict.REOPENED,
        user=None,
        write=write,
        decided_via=Decision.Via.HOUSEKEEPING,
        note=note[:300],
    )
    return True

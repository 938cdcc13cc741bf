"""What happens to review entries when a write of their document ends, or needs a person.

Runs in the transaction that stores the end of the write (banks.writes.after), so the log and the queue never disagree.
"""

from django.db.models import F

from banks.models import Write
from banks.writes import after
from reviews.models import Decision, ReviewEntry
from reviews.services import load
from reviews.services.decide import decided, reopen_fields

State = ReviewEntry.State


@after("delete")
def delete_ended(write: Write) -> None:
    entry = (
        ReviewEntry.objects.select_related("bank").of_document(bank=write.bank, document_id=write.document_id).first()
    )
    if entry is None:
        return
    if write.state == Write.State.DONE:
        ReviewEntry.objects.filter(pk=entry.pk, state=State.DELETING).update(
            state=State.DELETED, version=F("version") + 1, load_after=None
        )
    elif write.state == Write.State.RETRYING:  # a person pressed retry
        ReviewEntry.objects.filter(pk=entry.pk, state=State.PENDING).update(
            state=State.DELETING, version=F("version") + 1
        )
    elif write.state in (Write.State.ATTENTION, Write.State.CHANGED):
        _pending_again(entry, write)


@after("edit", "put-back")
def retain_ended(write: Write) -> None:
    """The text in the bank may be new, or may not: only a fresh look tells, and until then nobody can decide."""
    load.after_write_end(write)


def _pending_again(entry: ReviewEntry, write: Write) -> None:
    """The delete did not happen. The memory waits for a decision again, with what the bank holds now."""
    if ReviewEntry.objects.filter(pk=entry.pk, state=State.DELETING).update(**reopen_fields(entry)):
        entry.refresh_from_db()
        decided(
            entry,
            Decision.Verdict.REOPENED,
            user=None,
            write=write,
            decided_via=Decision.Via.HOUSEKEEPING,
            note="it was not deleted: " + (write.error_text or write.get_state_display())[:250],
        )
        load.after_write_end(write)

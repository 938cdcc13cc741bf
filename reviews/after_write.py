"""What happens to review entries when a write of their document ends, or needs a person.

Runs in the transaction that stores the end of the write (banks.writes.after), so the log and the queue never disagree.
"""

from datetime import timedelta
from typing import Any

from django.db.models import F
from django.utils import timezone

from banks.models import Write
from banks.reprocess_kind import kept_facts
from banks.writes import Overruled, after
from reviews.curation import archive, reapply, remember
from reviews.models import ReviewEntry
from reviews.services import arrivals, bank_documents, held_entries, load
from reviews.services.reopening import reopen_by_itself

State = ReviewEntry.State

# A retain that ran while we deleted ends a little later, and brings the document back.
LOOK_AGAIN_AFTER = timedelta(seconds=5)


@after("delete")
def delete_ended(write: Write) -> None:
    if write.state == Write.State.DONE:
        reapply.document_gone(bank=write.bank, document_id=write.document_id)
    entry = (
        ReviewEntry.objects.select_related("bank").of_document(bank=write.bank, document_id=write.document_id).first()
    )
    if entry is None:
        return
    if write.state == Write.State.DONE:
        ReviewEntry.objects.filter(pk=entry.pk, state=State.DELETING).update(
            state=State.DELETED,
            version=F("version") + 1,
            load_after=timezone.now() + LOOK_AGAIN_AFTER,
            load_attempts=0,
            load_claimed_until=None,
        )
    elif write.state == Write.State.RETRYING:
        _again(entry, [State.PENDING, State.DELETING], state=State.DELETING)
    elif write.state in (Write.State.ATTENTION, Write.State.CHANGED):
        _pending_again(entry, write)


@after("retire", "restore", "edit-fact")
def curation_ended(write: Write) -> None:
    """However far it came: what was done is remembered, and the card shows the facts as they are now."""
    if write.via == Write.Via.REAPPLY:
        reapply.after_write(write)
    else:
        remember.after_write(write)
    archive.read_back(write)
    load.after_write_end(write)


@after("edit", "put-back")
def retain_ended(write: Write) -> None:
    """The text in the bank may be new, or may not: only a fresh look tells, and until then nobody can decide."""
    if write.state != Write.State.RETRYING:
        load.after_write_end(write)
        return
    entry = ReviewEntry.objects.of_document(bank=write.bank, document_id=write.document_id).first()
    if entry is not None:
        still = [State.PENDING] if write.kind == "edit" else [State.PENDING, State.APPROVED]
        _again(entry, still, load_state=ReviewEntry.Load.LOADING, load_error="")


@after("retain")
def memories_arrived(write: Write) -> None:
    held_entries.landed(write)  # first: what was held has an entry
    arrivals.arrived(write)


@after("retain-files")
def file_arrived(write: Write) -> None:
    arrivals.file_arrived(write)


@after("reprocess")
def extraction_ended(write: Write) -> None:
    """What was retired past us until then is remembered, and all of it found again in the facts that are there now."""
    if write.state == Write.State.DONE and (facts := kept_facts(write)):
        remember.mirror(bank=write.bank, document_id=write.document_id, facts=facts)
    load.after_write_end(write)


@after("tags")
def tags_ended(write: Write) -> None:
    """The card shows the new ones at once; its facts, which have them too, are read again."""
    bank_documents.tags_ended(write)
    load.after_write_end(write)


def _again(entry: ReviewEntry, still: list[State], **changes: Any) -> None:
    """A person pressed retry: as when it was decided first. What was decided otherwise since counts more."""
    taken = ReviewEntry.objects.filter(pk=entry.pk, state__in=still)
    if not taken.update(version=F("version") + 1, load_after=None, load_claimed_until=None, **changes):
        raise Overruled


def _pending_again(entry: ReviewEntry, write: Write) -> None:
    """The delete did not happen. The memory waits for a decision again, with what the bank holds now."""
    if entry.state != State.DELETING:
        return
    why = write.error_text or write.get_state_display()
    if reopen_by_itself(
        entry, because=ReviewEntry.Reopened.NOT_DELETED, note=f"it was not deleted: {why}", answers=write
    ):
        load.after_write_end(write)

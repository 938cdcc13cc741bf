"""What a fresh look at the bank says about a decision that was taken: does it still stand?"""

from banks.models import Write
from reviews.models import Decision, ReviewEntry
from reviews.services.held_entries import is_what_was_appended
from reviews.services.reopening import reopen_by_itself

State, Reopened = ReviewEntry.State, ReviewEntry.Reopened


def look(entry: ReviewEntry, *, other_text: bool) -> bool:
    """Reopens what is in the bank although it was deleted, and what was written again since it was approved.

    To be called in the transaction that stored the text; `entry` as it was before. True when it was reopened.
    """
    state, via, had_text = entry.state, entry.decided_via, entry.text_id is not None
    if state == State.DELETED:
        entry.refresh_from_db()
        if via == Decision.Via.FILE:
            note = "a file said it was deleted, but the bank still has it"
            return reopen_by_itself(entry, because=Reopened.CONTRADICTED, note=note)
        note = "it was deleted, and the bank has it again: another writer stored it"
        return reopen_by_itself(entry, because=Reopened.CAME_BACK, note=note, answers=_deletion(entry))
    if state == State.APPROVED and other_text and had_text and entry.bank.reopen_on_change:
        before = entry.text
        entry.refresh_from_db()
        if before and entry.text and is_what_was_appended(entry, before.text, entry.text.text):
            return False
        return reopen_by_itself(entry, because=Reopened.CHANGED, note="it was written again after the approval")
    return False


def _deletion(entry: ReviewEntry) -> Write | None:
    deletions = Write.objects.filter(bank=entry.bank_id, document_hash=entry.document_hash, kind__in=["delete", "gone"])
    return deletions.filter(state=Write.State.DONE).order_by("-pk").first()

"""Having a memory's document extracted again: its text stays, its facts are made anew."""

from django.db import transaction
from django.utils import timezone

from banks import writes
from banks.models import Role, Write
from memadmin.accounts.models import User
from reviews.access import get_entry
from reviews.errors import NotLoaded, TooLate
from reviews.models import ReviewEntry
from reviews.services.recording import decided_on, open_write
from reviews.services.taking import conflict_of

# Writes after which all facts of a document are others.
EXTRACTING = ("reprocess", "edit", "put-back")
BEING_READ = "Its facts are being read from the bank just now. Nothing was sent; look at them, and press again."


def extract_again(
    *, user: User, entry_id: int, version: int, text_hash: str, facts_hash: str, via: Write.Via = Write.Via.WEB
) -> Write:
    """Sends the document through the server's extraction once more. Neither its text nor a decision on it changes.

    `facts_hash`: the key of the list of facts that was on screen, so that a second click does not extract twice.
    Raises Conflict when the memory is another one now, TooLate when something is under way.
    """
    entry = get_entry(user, entry_id, Role.REVIEWER)
    if entry.version != version or (entry.text_id or "") != text_hash:
        raise conflict_of(entry_id)
    if not may_extract(entry):
        raise NotLoaded(entry)
    with transaction.atomic():
        same = ReviewEntry.objects.filter(pk=entry.pk, version=version, text=entry.text_id, facts=entry.facts_id)
        if not same.update(facts=entry.facts_id):  # holds the entry until the row is stored
            raise conflict_of(entry_id)
        if (under_way := open_write(entry)) is not None:
            raise TooLate(_busy(under_way))
        if (entry.facts_id or "") != facts_hash or (entry.load_after and entry.load_after <= timezone.now()):
            raise TooLate(BEING_READ)
        return writes.record(
            kind="reprocess", via=via, actor=user, before=entry.text, facts_before=entry.facts, **decided_on(entry)
        )


def may_extract(entry: ReviewEntry) -> bool:
    """Whether there is a document as it was read, to be extracted again."""
    states = (ReviewEntry.State.PENDING, ReviewEntry.State.APPROVED)
    return entry.state in states and entry.loaded and entry.text_id is not None and entry.item_id is None


def _busy(write: Write) -> str:
    who = write.actor_name or write.get_via_display()
    what = writes.get(write.kind).verb
    return f"“{what}” by {who} is under way on this document. Nothing was sent; when that has ended, press again."

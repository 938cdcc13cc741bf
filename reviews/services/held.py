"""Decisions on memories that are held for review: nothing of them is in the bank, and a decision is about just that.

The row of the retain queue and its entry move in one transaction, each by a conditional update (banks.retain.holding).
"""

from typing import Any, TypeAlias
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F

from banks import writes
from banks.models import Blob, RetainItem, Write
from banks.retain import holding, person
from memadmin.accounts.models import User
from reviews import search
from reviews.errors import TooLarge, TooLate
from reviews.models import Decision, ReviewEntry
from reviews.services.recording import decided
from reviews.services.sight import first_sight
from reviews.services.taking import conflict_of, take

State: TypeAlias = ReviewEntry.State
Verdict: TypeAlias = Decision.Verdict

ERASED = "Our stored copy of the text was erased, so there is nothing to send. Nothing was changed."
FIRST = "An earlier memory of the same document is held too, and would be sent after this one. Decide on that first."
WRITTEN_SINCE = (
    "A newer text of this document was sent since, past this one, and would be written over. Reject this, or edit the "
    "newer one once the bank has it."
)
MOVED = "It is no longer held in the retain queue. Nothing was changed."
ON_ITS_WAY = "It is on its way to the bank already. When the bank has it, delete it there."
NO_MORE = "It was discarded after it was approved, and is not sent. Nothing was changed."


def approve(*, user: User, entry: ReviewEntry, via: Write.Via, group: UUID | None = None) -> Decision:
    """It is sent, soon. Raises TooLate where sending it now would turn the order of a document's texts around."""
    item = item_of(entry)
    if not Blob.objects.filter(pk=item.content_id, erased=None).exists():
        raise TooLate(ERASED)
    if not person.may_be_sent(entry.bank, item):
        raise TooLate(person.NOT_FOR_A_PERSON)
    if holding.earlier(item).exists():
        raise TooLate(FIRST)
    if holding.newer(item).exists():
        raise TooLate(WRITTEN_SINCE)
    with transaction.atomic():
        take(entry, state=State.APPROVED, user=user)
        if not holding.release(item):
            raise TooLate(MOVED)
        about = _about(entry)
        write = writes.record(kind="approve", via=via, actor=user, before=_text(entry), group=group, **about)
        return decided(entry, Verdict.APPROVED, user=user, write=write)


def reject(*, user: User, entry: ReviewEntry, via: Write.Via, group: UUID | None = None) -> Write:
    """It is never sent. Our copy of the text stays, so that this can be taken back."""
    with transaction.atomic():
        take(entry, state=State.REJECTED, user=user)
        if not holding.drop(item_of(entry), f"Rejected by {user.display_name}; it was never sent."):
            raise TooLate(MOVED)
        about = _about(entry)
        write = writes.record(kind="reject", via=via, actor=user, before=_text(entry), group=group, **about)
        decided(entry, Verdict.REJECTED, user=user, write=write)
    return write


def edit(*, user: User, entry: ReviewEntry, text: str, via: Write.Via, undo_of: Write | None = None) -> Write:
    """Another text is sent in the place of the one that came, once that is approved; the log keeps both."""
    size = len(text.encode())
    if size > settings.RETAIN_ITEM_BYTES:
        raise TooLarge(size, settings.RETAIN_ITEM_BYTES)
    with transaction.atomic():
        request = Blob.objects.store(text.replace("\0", "\ufffd"))  # servers drop it
        # Back to the text that came: it is the sender's again.
        by = user if undo_of is None else None
        shown = {"text": request, "text_size": request.size, "text_by": by, **first_sight(request.text)}
        take(entry, state=State.HELD, user=None, **shown)
        if not holding.reword(item_of(entry), request):
            raise TooLate(MOVED)
        search.index(entry_id=entry.pk, document_id=entry.document_id, text=request.text)
        write = writes.record(
            kind="edit-held",
            via=via,
            actor=user,
            request=request,
            before=_text(entry),
            undo_of=undo_of,
            **_about(entry),
        )
        decided(entry, Verdict.EDITED, user=user, write=write)
    return write


def undo(
    *, user: User, entry: ReviewEntry, latest: Decision | None, via: Write.Via, group: UUID | None = None
) -> Decision:
    """Held again: a rejection at any time, an approval as long as nothing was sent."""
    if latest is None or latest.verdict not in (Verdict.APPROVED, Verdict.REJECTED):
        raise TooLate("There is no decision on this memory that could be taken back.")
    if entry.state != latest.verdict:
        raise conflict_of(entry.pk)
    item = item_of(entry)
    if not Blob.objects.filter(pk=item.content_id, erased=None).exists():
        raise TooLate(ERASED)
    back = holding.take_back if latest.verdict == Verdict.APPROVED else holding.pick_up
    with transaction.atomic():
        if not back(item):
            raise TooLate(NO_MORE if item.state == RetainItem.State.DISCARDED else ON_ITS_WAY)
        same = ReviewEntry.objects.filter(pk=entry.pk, state=entry.state, version=entry.version)
        undecided = {"decided_by": "", "decided_via": "", "decided_at": None}
        if not same.update(state=State.HELD, version=F("version") + 1, **undecided):
            raise conflict_of(entry.pk)
        write = writes.record(kind="undo", via=via, actor=user, undo_of=latest.write, group=group, **_about(entry))
        return decided(entry, Verdict.REOPENED, user=user, write=write, note=f"took back: {latest.verdict}")


def undo_edit(*, user: User, entry: ReviewEntry, write: Write, via: Write.Via = Write.Via.WEB) -> Write:
    """The text that was there before, as long as the one of this edit still is."""
    if not entry.held or entry.text_id != write.request_id:
        raise conflict_of(entry.pk)
    if write.before is None or write.before.erased:
        raise TooLate(ERASED)
    return edit(user=user, entry=entry, text=write.before.text, via=via, undo_of=write)


def item_of(entry: ReviewEntry) -> RetainItem:
    """Read afresh."""
    assert entry.item_id is not None  # it is no document
    return RetainItem.objects.get(pk=entry.item_id)


def _text(entry: ReviewEntry) -> Blob | None:
    return Blob.known_as(entry.text_id)


def _about(entry: ReviewEntry) -> dict[str, Any]:
    return {"bank": entry.bank, "document_id": entry.document_id}

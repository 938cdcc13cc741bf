"""The ways out when the bank no longer holds what was to be reviewed, or drew nothing from it.

Each takes what was on screen, like the decisions in `decide`.
"""

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from banks import writes
from banks.models import Role, Write
from memadmin.accounts.models import User
from reviews.access import get_entry
from reviews.errors import TooLate
from reviews.models import Decision, ReviewEntry
from reviews.services.decide import edit
from reviews.services.recording import decided, decided_on, open_write
from reviews.services.taking import conflict_of

State, Load = ReviewEntry.State, ReviewEntry.Load


def close(*, user: User, entry_id: int, version: int, via: Write.Via = Write.Via.WEB) -> Decision:
    """A person says that a vanished memory needs no review. Nothing is sent; it can be undone."""
    entry = _vanished(user, entry_id, version)
    if entry.state != State.PENDING:
        raise conflict_of(entry_id)
    now = timezone.now()
    with transaction.atomic():
        taken = ReviewEntry.objects.filter(
            pk=entry.pk, state=State.PENDING, version=version, load_state=Load.MISSING
        ).update(
            state=State.DELETED,
            version=F("version") + 1,
            reopened_because="",
            load_after=None,
            lease_user=None,
            lease_until=None,
            decided_by=user.display_name,
            decided_via=Decision.Via.PERSON,
            decided_at=now,
        )
        if not taken:
            raise conflict_of(entry_id)
        write = writes.record(kind="gone", via=via, actor=user, before=entry.text, **decided_on(entry))
        return decided(entry, Decision.Verdict.GONE, user=user, write=write)


def put_back_vanished(*, user: User, entry_id: int, version: int, via: Write.Via = Write.Via.WEB) -> Write:
    """Retains a document that vanished from the bank again, from the text that was loaded before."""
    entry = _vanished(user, entry_id, version)
    if entry.text is None or entry.text.erased:
        raise TooLate("There is no stored text of this memory, so it cannot be put back.")
    if entry.state not in (State.PENDING, State.APPROVED):
        raise conflict_of(entry_id)
    with transaction.atomic():
        taken = ReviewEntry.objects.filter(
            pk=entry.pk, state=entry.state, version=version, load_state=Load.MISSING
        ).update(load_state=Load.LOADING, load_error="", load_after=None, version=F("version") + 1)
        if not taken:
            raise conflict_of(entry_id)
        return writes.record(
            kind="put-back",
            bank=entry.bank,
            via=via,
            actor=user,
            document_id=entry.document_id,
            request=entry.text,
            params=entry.retain_params,
        )


def revert_edit(*, user: User, entry_id: int, version: int, text_hash: str, via: Write.Via = Write.Via.WEB) -> Write:
    """Out of an edit that did no good: the text before it is stored again, by another edit."""
    entry = get_entry(user, entry_id, Role.REVIEWER)
    last = last_edit(entry)
    if last is None or last.before is None or last.before.erased:
        raise TooLate("There is no earlier text of this memory that could be put back.")
    write = edit(
        user=user,
        entry_id=entry_id,
        version=version,
        text_hash=text_hash,
        new_text=last.before.text,
        via=via,
        undo_of=last,
    )
    if write is None:
        raise TooLate("The earlier text is the one the bank has.")
    return write


def last_edit(entry: ReviewEntry) -> Write | None:
    """The finished edit that brought the text as it is now, None when no edit of ours did."""
    if entry.text_id is None:
        return None
    edits = Write.objects.select_related("before").filter(bank=entry.bank_id, document_hash=entry.document_hash)
    return edits.filter(kind="edit", state=Write.State.DONE, request=entry.text_id).order_by("-pk").first()


def _vanished(user: User, entry_id: int, version: int) -> ReviewEntry:
    entry = get_entry(user, entry_id, Role.REVIEWER)
    if entry.version != version:
        raise conflict_of(entry_id)
    if entry.load_state != Load.MISSING:
        raise TooLate("The bank has this document: decide on it.")
    if open_write(entry):
        raise TooLate("A write of this document is under way. When it has ended, look again.")
    return entry

"""The decisions of a reviewer. One conditional update decides; the loser gets a Conflict and nothing has changed.

Each takes what was on screen: the entry's `version` and `text_hash` (our sha256 of the text).
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from typing import TypeAlias
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from banks import access, writes
from banks.models import Blob, Role, Write
from memadmin.accounts.models import User
from reviews.access import get_entry
from reviews.errors import TooLate
from reviews.models import Decision, ReviewEntry
from reviews.services import approvals, held
from reviews.services.reading import require_read
from reviews.services.recording import decided, decided_on, open_write
from reviews.services.reopening import reopen
from reviews.services.taking import conflict_of, decidable, storable, take
from reviews.text import normalise_newlines

State: TypeAlias = ReviewEntry.State
Load: TypeAlias = ReviewEntry.Load
Verdict: TypeAlias = Decision.Verdict


def approve(
    *,
    user: User,
    entry_id: int,
    version: int,
    text_hash: str,
    part: int = 0,
    read: Collection[int] = (),
    via: Write.Via = Write.Via.WEB,
    entry: ReviewEntry | None = None,
    group: UUID | None = None,
) -> Decision:
    """Approves the text that was shown. Changes nothing in the bank, but that what was held is sent to it.

    Where the bank's policy wants two people, the first approval is a verdict of its own and decides nothing yet.

    `part`: which part of a long text was on screen; raises Unread when others never were, and are not
    among those that a program has `read`. `entry`: as `get_entry_to_decide` has just given it to this person; else it
    is fetched here. `group`: of the bulk act it is a part of.
    """
    entry = decidable(user, entry_id, version, text_hash, entry)
    require_read(user=user, entry=entry, part=part, read=read)
    approvals.require_another(user=user, entry=entry)
    if (first := approvals.vouch(user=user, entry=entry, via=via, group=group)) is not None:
        return first
    if entry.held:
        return held.approve(user=user, entry=entry, via=via, group=group)
    with transaction.atomic():
        take(entry, state=State.APPROVED, user=user)
        before = Blob.known_as(entry.text_id)
        write = writes.record(kind="approve", via=via, actor=user, before=before, group=group, **decided_on(entry))
        return decided(entry, Verdict.APPROVED, user=user, write=write)


def delete(
    *,
    user: User,
    entry_id: int,
    version: int,
    text_hash: str,
    via: Write.Via = Write.Via.WEB,
    entry: ReviewEntry | None = None,
    group: UUID | None = None,
    send_at: datetime | None = None,
) -> Write:
    """Deletes the document that was shown. `entry` and `group` as in `approve`.

    Nothing is sent before the undo window is over, or before `send_at`.

    What is held is rejected: it is no document yet, and never will be.
    """
    entry = decidable(user, entry_id, version, text_hash, entry)
    if entry.held:
        return held.reject(user=user, entry=entry, via=via, group=group)
    with transaction.atomic():
        take(entry, state=State.DELETING, user=user)
        write = writes.record(
            kind="delete",
            via=via,
            actor=user,
            before=Blob.known_as(entry.text_id),
            facts_before=Blob.known_as(entry.facts_id),
            params=entry.retain_params,
            not_before=send_at or timezone.now() + timedelta(seconds=settings.UNDO_SECONDS),
            group=group,
            **decided_on(entry),
        )
        decided(entry, Verdict.DELETED, user=user, write=write)
    return write


def edit(
    *,
    user: User,
    entry_id: int,
    version: int,
    text_hash: str,
    new_text: str,
    via: Write.Via = Write.Via.WEB,
    undo_of: Write | None = None,
) -> Write | None:
    """Replaces the whole text under the same id; the entry stays pending for a second look.

    `new_text` may come from a form: its line ends are those of the original again. None = nothing changed, no call.
    `undo_of`: the edit before which this was the text.
    """
    entry = decidable(user, entry_id, version, text_hash)
    assert entry.text is not None
    text = storable(normalise_newlines(new_text, entry.text.text))
    if text == entry.text.text:
        return None
    if entry.held:
        return held.edit(user=user, entry=entry, text=text, via=via)
    with transaction.atomic():
        request = Blob.objects.store(text)  # before the entry, as loading does: they must not wait for each other
        # Until the bank holds the new text nobody can decide on it: it is "loading" and `after_write` loads it.
        take(entry, state=State.PENDING, user=None, load_state=Load.LOADING, load_after=None)
        write = writes.record(
            kind="edit",
            via=via,
            actor=user,
            request=request,
            before=entry.text,
            facts_before=entry.facts,
            params=entry.retain_params,
            undo_of=undo_of,
            **decided_on(entry),
        )
        decided(entry, Verdict.EDITED, user=user, write=write)
    return write


def undo(
    *,
    user: User,
    entry_id: int,
    version: int | None = None,
    via: Write.Via = Write.Via.WEB,
    group: UUID | None = None,
) -> Decision:
    """Takes back the latest decision: an approval at any time, a delete as long as nothing of it has happened.

    `version`: what was on screen, where somebody else's decision is taken back; None = whatever is the latest.
    `group` as in `approve`.
    """
    entry = get_entry(user, entry_id, Role.REVIEWER)
    if version is not None and entry.version != version:
        raise conflict_of(entry_id)
    latest = entry.decisions.select_related("write").order_by("-pk").first()
    if latest is not None and latest.verdict == Verdict.VOUCHED:
        return approvals.withdraw(user=user, entry=entry, first=latest, via=via, group=group)
    if entry.item_id is not None:
        return held.undo(user=user, entry=entry, latest=latest, via=via, group=group)
    if latest is None or latest.verdict not in (Verdict.APPROVED, Verdict.DELETED, Verdict.GONE):
        raise TooLate("There is no decision on this memory that could be taken back.")
    if latest.verdict == Verdict.APPROVED and entry.state != State.APPROVED:
        raise conflict_of(entry_id)
    if latest.verdict == Verdict.DELETED and entry.state == State.DELETED:
        raise TooLate("It is already deleted. Its text is in the write log: put it back from there.")
    with transaction.atomic():
        if latest.verdict == Verdict.DELETED and (latest.write is None or not writes.cancel(write=latest.write)):
            raise TooLate("The bank has already been told to delete it. When that is done, put it back from the log.")
        if not reopen(entry):
            raise conflict_of(entry_id)
        write = writes.record(
            kind="undo",
            bank=entry.bank,
            via=via,
            actor=user,
            document_id=entry.document_id,
            decided_hash=entry.content_hash,
            undo_of=latest.write,
            group=group,
        )
        return decided(entry, Verdict.REOPENED, user=user, write=write, note=f"took back: {latest.verdict}")


def put_back(*, user: User, write_id: int, via: Write.Via = Write.Via.WEB) -> Write:
    """Retains a deleted document again from our stored text, with its old parameters. Its facts get new ids."""
    deletion = Write.objects.select_related("bank__server", "before").filter(pk=write_id, kind="delete").first()
    if deletion is None:
        raise TooLate("There is nothing to put back.")
    access.require(user, deletion.bank, Role.REVIEWER)
    if deletion.state != Write.State.DONE:
        raise TooLate("The delete is not finished, so there is nothing to put back yet.")
    if deletion.before is None or deletion.before.erased:
        raise TooLate("Our stored copy of the text was erased. It cannot be put back.")
    entry = ReviewEntry.objects.select_related("bank").get(bank=deletion.bank, document_hash=deletion.document_hash)
    if entry.state != State.DELETED:  # a second press finds nothing to put back
        raise conflict_of(entry.pk)
    with transaction.atomic():
        if not reopen(entry, load_state=Load.LOADING, load_after=None):
            raise conflict_of(entry.pk)
        write = writes.record(
            kind="put-back",
            bank=deletion.bank,
            via=via,
            actor=user,
            document_id=deletion.document_id,
            request=deletion.before,
            params=deletion.params,
            undo_of=deletion,
        )
        decided(entry, Verdict.REOPENED, user=user, write=write, note="put back")
    return write


def reload(*, user: User, entry_id: int) -> None:
    """Asks the workers to read the document from the bank again, now."""
    entry = get_entry(user, entry_id, Role.REVIEWER)
    if entry.item_id is None and not open_write(entry):
        ReviewEntry.objects.filter(pk=entry.pk).update(load_after=timezone.now(), load_attempts=0)

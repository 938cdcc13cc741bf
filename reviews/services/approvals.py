"""Who may approve, by two rules of a bank's policy: not who wrote the text, and two people instead of one.

Of two people the first vouches. That is a decision like others, which changes nothing but that one more is enough; it
is about the version that was on screen, and whatever makes another version of the memory needs two again. Time and
files are no people: where two have to approve, neither does.
"""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q

from banks import writes
from banks.models import Blob, RetainItem, Write
from memadmin.accounts.models import User
from reviews.errors import AlreadyVouched, OwnText
from reviews.models import Decision, ReviewEntry
from reviews.services.recording import decided
from reviews.services.taking import conflict_of

Verdict = Decision.Verdict
# What a person has written; what comes by a token, an import or a session is an agent's.
BY_HAND = [Write.Via.WEB, Write.Via.CLI]
NO_LONGER = "This approval does not count any more: the memory was written again, or decided on, since."


@dataclass(frozen=True)
class Approvals:
    """What a card says of these rules. `first`: who approved already, where another has to approve too."""

    two: bool
    first: Decision | None
    mine: bool  # `first` is this person's
    barred: bool  # this person wrote the text

    @property
    def may(self) -> bool:
        return not self.barred and not self.mine


def approvals_of(entry: ReviewEntry, user: Any) -> Approvals | None:
    """None where one person's approval is enough, and this person's."""
    bank = entry.bank
    if not entry.waits or not (bank.two_reviewers or bank.bars_writer):
        return None
    first = first_of_two(entry) if bank.two_reviewers and entry.vouched else None
    barred = bank.bars_writer and user.pk in writers_of(entry)
    mine = first is not None and first.user_id == user.pk
    return Approvals(bank.two_reviewers, first, mine, barred) if bank.two_reviewers or barred else None


def require_another(*, user: User, entry: ReviewEntry) -> None:
    """Raises OwnText where the policy bars whoever wrote the text, and that is this person."""
    if entry.bank.bars_writer and user.pk in writers_of(entry):
        raise OwnText


def vouch(*, user: User, entry: ReviewEntry, via: Write.Via, group: UUID | None = None) -> Decision | None:
    """The decision of whoever is the first of two; None where this person's approval is enough.

    Raises AlreadyVouched for who was the first already. Of two at once one vouches, and the other is the second.
    """
    if not entry.bank.two_reviewers:
        return None
    if not entry.vouched and (made := _vouch(user, entry, via, group)) is not None:
        return made
    first = first_of_two(entry)
    if first is None:  # taken back in between, or the memory is another one now
        raise conflict_of(entry.pk)
    if first.user_id == user.pk:
        raise AlreadyVouched
    return None


def first_of_two(entry: ReviewEntry) -> Decision | None:
    """The approval that waits for another. Taking one back makes another version, so that none is found twice."""
    found = entry.decisions.filter(verdict=Verdict.VOUCHED, version=entry.version, text_hash=entry.text_id or "")
    return found.order_by("-pk").first()


def withdraw(*, user: User, entry: ReviewEntry, first: Decision, via: Write.Via, group: UUID | None = None) -> Decision:
    """Takes the first of two approvals back. The memory waits for two again, with what anybody has on screen stale."""
    with transaction.atomic():
        same = ReviewEntry.objects.filter(pk=entry.pk, state=entry.state, version=first.version)
        if not same.filter(vouched_version=first.version).update(version=F("version") + 1, vouched_version=None):
            raise conflict_of(entry.pk)
        write = writes.record(
            kind="undo",
            bank=entry.bank,
            via=via,
            actor=user,
            document_id=entry.document_id,
            undo_of=first.write,
            group=group,
        )
        return decided(entry, Verdict.WITHDRAWN, user=user, write=write, note=f"took back: {first.verdict}")


def writers_of(entry: ReviewEntry) -> set[int]:
    """Primary keys of the people whose text this is: who edited it into what it is, and who retained it by hand."""
    writers, texts = {entry.text_by_id}, [entry.text_id]
    edits = {
        decision.write.request_id: decision.write
        for decision in entry.decisions.filter(verdict=Verdict.EDITED).select_related("write").order_by("pk")
        if decision.write is not None and decision.write.undo_of_id is None
    }
    while (edit := edits.pop(texts[-1], None)) is not None:  # each edit from the text that the one before made
        writers.add(edit.actor_id)
        texts.append(edit.before_id)
    items = RetainItem.objects.filter(
        Q(content__in=[text for text in texts if text]) | Q(update_mode=RetainItem.Mode.APPEND),
        bank=entry.bank_id,
        document_hash=Write.hash_of(entry.document_id),
        via__in=BY_HAND,
    )
    writers.update(items.values_list("actor", flat=True))
    return {pk for pk in writers if pk is not None}


def _vouch(user: User, entry: ReviewEntry, via: Write.Via, group: UUID | None) -> Decision | None:
    """None where somebody was faster, at whatever."""
    with transaction.atomic():
        same = ReviewEntry.objects.filter(
            pk=entry.pk, state=entry.state, version=entry.version, text=entry.text_id, load_state=entry.load_state
        )
        first = Q(vouched_version=None) | ~Q(vouched_version=entry.version)
        if not same.filter(first).update(vouched_version=entry.version, lease_user=None, lease_until=None):
            return None
        write = writes.record(
            kind="vouch",
            bank=entry.bank,
            via=via,
            actor=user,
            document_id=entry.document_id,
            before=Blob.known_as(entry.text_id),
            decided_hash=entry.content_hash,
            group=group,
        )
        return decided(entry, Verdict.VOUCHED, user=user, write=write)

"""Auto-approval: an undecided memory is approved by time. No bank call; recorded as time, never as a person."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from banks import writes
from banks.models import Bank, Blob, Write
from reviews.models import Decision, ReviewEntry


@dataclass
class Expired:
    """What a sweep did, or would do: ids of the entries, oldest first."""

    entry_ids: list[int] = field(default_factory=list)
    dry_run: bool = False

    @property
    def count(self) -> int:
        return len(self.entry_ids)


def expiry_of(*, entry: ReviewEntry, bank: Bank) -> datetime | None:
    """When this entry is approved by time; None = it waits for a person.

    Age counts from `age_from`, and never ends sooner than a grace after the first import, so that an old file is not
    approved unseen. Undatable and danger-marked entries wait (the latter unless the bank says otherwise), and what a
    person wanted deleted is never approved by time. Nor is anything where two people have to approve.
    """
    days = bank.approve_after_days
    if bank.two_reviewers:  # time is nobody
        return None
    if not days or entry.age_from is None or (entry.danger and not bank.expire_marked):
        return None
    if entry.reopened_because in ReviewEntry.WANTED_DELETED:
        return None
    grace = timedelta(hours=settings.IMPORT_GRACE_HOURS)
    try:
        return max(entry.age_from + timedelta(days=days), entry.first_imported_at + grace)
    except OverflowError:  # a window or a date beyond the calendar: never
        return None


def set_expiry(entry: ReviewEntry, *, age_from: datetime | None) -> None:
    """Sets `age_from` and `expires_at` on the instance; the caller stores them.

    An undatable entry stays undatable; otherwise the age only ever restarts (edited, reopened, undone).
    """
    entry.age_from = age_from
    entry.expires_at = expiry_of(entry=entry, bank=entry.bank)


def run(*, now: datetime | None = None, dry_run: bool = False, limit: int = 1000) -> Expired:
    """Approves what is past its time. Strictly: what expires exactly now stays until the next sweep.

    Idempotent, and safe to run twice at once: each entry is taken by a conditional update.
    """
    now = now or timezone.now()
    due = ReviewEntry.objects.filter(
        state=ReviewEntry.State.PENDING, load_state=ReviewEntry.Load.LOADED, expires_at__lt=now
    ).order_by("expires_at", "pk")
    due = due.exclude(bank__two_reviewers=True)  # whatever was dated while the policy changed
    result = Expired(dry_run=dry_run)
    for entry in due.select_related("bank").defer("retain_params", "sources")[:limit]:
        if dry_run or _approve_by_time(entry, now):
            result.entry_ids.append(entry.pk)
    return result


@transaction.atomic
def _approve_by_time(entry: ReviewEntry, now: datetime) -> bool:
    taken = ReviewEntry.objects.filter(
        pk=entry.pk,
        state=ReviewEntry.State.PENDING,
        load_state=ReviewEntry.Load.LOADED,
        version=entry.version,
        expires_at__lt=now,
    ).update(
        state=ReviewEntry.State.APPROVED,
        version=F("version") + 1,
        reopened_because="",
        decided_by="",
        decided_via=Decision.Via.EXPIRY,
        decided_at=now,
    )
    if not taken:
        return False
    write = writes.record(
        kind="approve",
        bank=entry.bank,
        via=Write.Via.EXPIRY,
        document_id=entry.document_id,
        before=Blob.known_as(entry.text_id),
        decided_hash=entry.content_hash,
        occurred_at=now,
    )
    Decision.objects.create(
        entry=entry,
        verdict=Decision.Verdict.APPROVED,
        decided_via=Decision.Via.EXPIRY,
        version=entry.version,
        text_hash=entry.text_id or "",
        content_hash=entry.content_hash,
        write=write,
        at=now,
    )
    return True


def recompute(*, bank: Bank) -> int:
    """Sets `expires_at` anew for the pending entries of a bank whose policy changed. Returns how many changed."""
    changed = 0
    for entry in ReviewEntry.objects.filter(bank=bank, state=ReviewEntry.State.PENDING).iterator(chunk_size=500):
        entry.bank = bank
        before, entry.expires_at = entry.expires_at, expiry_of(entry=entry, bank=bank)
        if before != entry.expires_at:
            changed += ReviewEntry.objects.filter(pk=entry.pk, version=entry.version).update(
                expires_at=entry.expires_at
            )
    return changed

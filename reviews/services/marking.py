"""The marks of an entry as rows: put when its text is read, dismissed by a person with a reason."""

from collections.abc import Collection, Sequence

from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from banks import writes
from banks.models import Role, Write
from memadmin.accounts.models import User
from reviews.access import get_entry
from reviews.errors import TooLate
from reviews.models import Mark, ReviewEntry
from reviews.screening.marks import Found
from reviews.screening.screen import VERSION, screen, summary
from reviews.services.expiry import expiry_of
from reviews.services.recording import decided_on
from reviews.services.sight import weighed

REASON = 300  # characters
# What takes a process of its own, or all other texts: `reviews.services.screening_due`.
LATER = ("language", "duplicate")


def put(entry_id: int, text: str) -> None:
    """Stores what the rules find in this text, in the place of what was found before. Idempotent.

    The caller's transaction holds the entry's row with the text, and what `first_sight` says of it.
    """
    before = list(Mark.objects.filter(entry=entry_id).exclude(kind__in=LATER))
    rows = [mark_of(entry_id, one, text) for one in screen(text)]
    if replace(rows, before) or Mark.objects.filter(entry=entry_id, kind__in=LATER).exists():
        weigh(ReviewEntry.objects.select_related("bank").get(pk=entry_id), text)


def replace(rows: Sequence[Mark], before: Collection[Mark]) -> bool:
    """Stores rows in the place of others; what was dismissed stays so. True where anything is dismissed."""
    dismissed = {row.key: row for row in before if row.dismissed}
    if [_place(row) for row in rows] == [_place(row) for row in before]:
        return bool(dismissed)
    for row in rows:
        if known := dismissed.get(row.key):
            row.dismissed, row.dismissed_by_id = known.dismissed, known.dismissed_by_id
            row.dismissed_name, row.reason = known.dismissed_name, known.reason
    Mark.objects.filter(pk__in=[row.pk for row in before]).delete()
    Mark.objects.bulk_create(rows)
    return any(row.dismissed for row in rows)


def mark_of(entry_id: int, found: Found, text: str, *, other: ReviewEntry | None = None) -> Mark:
    what = str(other.pk) if other else text[found.start : found.end]
    return Mark(
        entry_id=entry_id,
        kind=found.kind,
        tone=found.tone,
        start=found.start,
        end=found.end,
        why=found.why[:300],
        other=other,
        key=salted_hmac("reviews.marks", f"{found.kind}\0{what}", algorithm="sha256").hexdigest(),
        rules=VERSION,
    )


def dismiss(*, user: User, entry_id: int, mark_id: int, reason: str, via: Write.Via = Write.Via.WEB) -> Mark:
    """A person says that it is no risk, and why; the log keeps both. Raises TooLate where it is no longer there."""
    entry = get_entry(user, entry_id, Role.REVIEWER)
    with transaction.atomic():
        open_marks = Mark.objects.filter(entry=entry, pk=mark_id, dismissed=None)
        said = {"dismissed_by": user, "dismissed_name": user.display_name, "reason": reason.strip()[:REASON]}
        if not open_marks.update(dismissed=timezone.now(), **said):
            raise TooLate("This mark is not there any more: the text was read again, or somebody dismissed it.")
        mark = Mark.objects.get(pk=mark_id)
        params = {"kind": mark.kind, "why": mark.why, "note": mark.reason}
        writes.record(kind="dismiss-mark", via=via, actor=user, params=params, **decided_on(entry))
        weigh(entry, entry.text.text if entry.text else "")
    return mark


def reveal(*, user: User, entry_id: int, via: Write.Via = Write.Via.WEB) -> ReviewEntry:
    """Logs that this person looks at the secrets of a text."""
    entry = get_entry(user, entry_id, Role.REVIEWER)
    params = {"text_hash": entry.text_id or ""}
    with transaction.atomic():
        writes.record(kind="reveal", via=via, actor=user, params=params, **decided_on(entry))
    return entry


def weigh(entry: ReviewEntry, text: str) -> None:
    """What lists show of the entry, and whether time may approve it: by the marks that nobody dismissed."""
    rows = Mark.objects.filter(entry=entry, dismissed=None)
    left = [Found(row.kind, row.start, row.end, row.why, row.tone) for row in rows]  # type: ignore[arg-type]
    values = weighed(summary(left, text))
    entry.danger = values["danger"]
    if entry.waits:
        values["expires_at"] = expiry_of(entry=entry, bank=entry.bank)
    ReviewEntry.objects.filter(pk=entry.pk, text=entry.text_id).update(**values)


def _place(row: Mark) -> tuple[str, int, int, str, int]:
    return row.kind, row.start, row.end, row.key, row.rules

"""Who has a card open, and who has seen which text. Written by an explicit post of the opened card, never by a GET."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from memadmin.accounts.models import User
from reviews.models import ReviewEntry, Seen


def open_card(*, user: User, entry: ReviewEntry, part: int = 0) -> None:
    """Renews this person's lease when nobody else holds one, and remembers the text that was shown.

    A lease is shown to others and blocks nobody; it ends by itself. `entry` as it was just read: an open card asks
    every few seconds, and most of the time there is nothing to write. `part` as in `reading`.
    """
    now = timezone.now()
    length = timedelta(minutes=settings.LEASE_MINUTES)
    left = entry.lease_until - now if entry.lease_user_id == user.pk and entry.lease_until else timedelta()
    taken = left < length / 2 and _take(entry, user, now, length)
    if entry.text_id is None:
        return
    seen, first = Seen.objects.get_or_create(user=user, entry=entry, text_hash=entry.text_id, defaults={"at": now})
    if part and part not in seen.parts:
        # Two tabs at once may lose one of two parts; it is then asked for again.
        Seen.objects.filter(pk=seen.pk).update(parts=sorted({*seen.parts, part}))
    if taken and left <= timedelta() and not first:
        Seen.objects.filter(pk=seen.pk).update(at=now)  # opened anew: others are told since when


def close_card(*, user: User, entry: ReviewEntry) -> None:
    """Gives this person's lease back before its time."""
    ReviewEntry.objects.filter(pk=entry.pk, lease_user=user).update(lease_user=None, lease_until=None)


def _take(entry: ReviewEntry, user: User, now: datetime, length: timedelta) -> bool:
    free = Q(lease_user=None) | Q(lease_user=user) | Q(lease_until__lt=now)
    rows = ReviewEntry.objects.filter(free, pk=entry.pk, state__in=ReviewEntry.WAITING)
    return bool(rows.update(lease_user=user, lease_until=now + length))

"""Who has a card open, and who has seen which text. Written by an explicit post of the opened card, never by a GET."""

from datetime import timedelta

from django.conf import settings
from django.db.models import Q
from django.utils import timezone

from memadmin.accounts.models import User
from reviews.models import ReviewEntry, Seen


def open_card(*, user: User, entry: ReviewEntry) -> None:
    """Renews this person's lease when nobody else holds one, and remembers the text that was shown.

    A lease is shown to others and blocks nobody; it ends by itself.
    """
    now = timezone.now()
    ReviewEntry.objects.filter(
        Q(lease_user=None) | Q(lease_user=user) | Q(lease_until__lt=now), pk=entry.pk, state=ReviewEntry.State.PENDING
    ).update(lease_user=user, lease_until=now + timedelta(minutes=settings.LEASE_MINUTES))
    if entry.text_id:
        Seen.objects.get_or_create(user=user, entry=entry, text_hash=entry.text_id)

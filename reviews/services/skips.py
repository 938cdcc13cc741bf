"""Going on without a decision: not a verdict, but a place at the end of one's own lists until the memory changes."""

from django.utils import timezone

from memadmin.accounts.models import User
from reviews.models import ReviewEntry, Skip
from reviews.selectors import skips
from reviews.services.seen import close_card


def skip(*, user: User, entry: ReviewEntry) -> None:
    """Puts it behind what was skipped before, and gives the lease back."""
    if entry.waits:
        Skip.objects.filter(user=user).exclude(entry__state__in=ReviewEntry.WAITING).delete()
        kept = {"version": entry.version, "at": timezone.now()}
        Skip.objects.update_or_create(user=user, entry=entry, defaults=kept)
        skips.forget(user)
    close_card(user=user, entry=entry)

"""When somebody was last here: noted every few minutes, so that no page costs a write."""

import logging
from datetime import timedelta

from django.db import DatabaseError
from django.db.models import Q
from django.utils import timezone

from memadmin.accounts.models import User

logger = logging.getLogger(__name__)

NOTED_EVERY = timedelta(minutes=5)


def note(person: User) -> bool:
    """Whether it was written down. Of several pages at once, one writes. Never a reason for a page to fail."""
    now = timezone.now()
    due = now - NOTED_EVERY
    if person.seen is not None and person.seen > due:
        return False
    long_ago = Q(last_seen=None) | Q(last_seen__lte=due)
    try:
        return bool(User.objects.filter(long_ago, pk=person.pk).update(last_seen=now))
    except DatabaseError:
        logger.warning("it could not be noted that somebody was here")
        return False

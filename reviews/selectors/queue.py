"""The review queue: one filtered base for the list, its counts and the way from card to card."""

from typing import Any

from django.db.models import QuerySet

from banks.access import banks_for
from memadmin.counting import Count, count_of
from reviews.models import ReviewEntry


def entries_seen_by(user: Any) -> QuerySet[ReviewEntry]:
    return ReviewEntry.objects.filter(bank__in=banks_for(user))


def pending_count(user: Any) -> Count:
    return count_of(entries_seen_by(user).filter(state=ReviewEntry.State.PENDING))

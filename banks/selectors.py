"""What is read for pages about banks and their write log."""

from typing import Any

from django.db.models import Q, QuerySet

from banks.access import banks_for
from banks.models import Server, Write
from memadmin.counting import Count, count_of

NEEDS_A_PERSON = [Write.State.ATTENTION, Write.State.CHANGED]


def writes_seen_by(user: Any) -> QuerySet[Write]:
    """The one base of the log and of every count over it."""
    return Write.objects.filter(bank__in=banks_for(user))


def attention_count(user: Any) -> Count:
    """Writes that wait for a person."""
    return count_of(writes_seen_by(user).filter(state__in=NEEDS_A_PERSON))


def servers_seen_by(user: Any) -> list[Server]:
    """The servers behind the banks this person may see, by name."""
    seen = Q(banks__in=banks_for(user)) | Q(memberships__user=user)
    if getattr(user, "is_superuser", False):
        seen = Q()
    return list(Server.objects.filter(seen).distinct()[:50])

"""Numbers for decisions, in the order in which they took effect: programs read them from a number on and miss none.

Ids would not do. They are given before a transaction ends, so a lower one may appear after a higher one was read; and a
delete is decided long before the bank has done it. A number is given afterwards, by one transaction after another: each
begins behind the highest it sees, so of two at once the index lets one through.
"""

from django.db import IntegrityError, OperationalError, transaction
from django.db.models import Q, QuerySet

from banks.models import Write
from reviews.models import Decision

LOT = 500  # rows in one transaction
LOTS = 20
# A delete of which nobody knows yet whether it happens. One that was cancelled has ended: it is given as undone.
UNDECIDED = [*Write.OPEN, Write.State.ATTENTION, Write.State.CHANGED]


def number() -> int:
    """Numbers what has taken effect since; returns how many. Safe to run twice at once."""
    found = 0
    for _ in range(LOTS):
        try:
            count = _number_lot()
        except (IntegrityError, OperationalError):  # somebody else is at it; the next beat goes on
            break
        found += count
        if count < LOT:
            break
    return found


@transaction.atomic
def _number_lot() -> int:
    lot = list(_waiting().only("number")[:LOT])
    given = Decision.objects.filter(number__gt=0).order_by("-number").values_list("number", flat=True)
    for place, decision in enumerate(lot, start=(given.first() or 0) + 1):
        decision.number = place
    return Decision.objects.filter(number__isnull=True).bulk_update(lot, ["number"], batch_size=100)


def _waiting() -> QuerySet[Decision]:
    away = Q(verdict=Decision.Verdict.DELETED, write__state__in=UNDECIDED)
    return Decision.objects.filter(number__isnull=True).exclude(away).order_by("pk")

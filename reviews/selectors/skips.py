"""What a person has skipped: it stands at the end of their lists."""

from typing import Any

from django.db.models import F

from reviews.models import ReviewEntry, Skip

# Of more the earliest have their usual places again: lists name them one by one.
MOST = 50
_KEPT = "_skipped"


def skipped_by(user: Any) -> list[int]:
    """Primary keys of what waits still, as it was skipped; the latest last. Asked once for each request's person."""
    kept: list[int] | None = user.__dict__.get(_KEPT)
    if kept is None:
        rows = Skip.objects.filter(user=user, entry__state__in=ReviewEntry.WAITING, version=F("entry__version"))
        kept = list(rows.order_by("-at", "-pk").values_list("entry", flat=True)[:MOST])[::-1]
        user.__dict__[_KEPT] = kept
    return kept


def forget(user: Any) -> None:
    """It was skipped anew."""
    user.__dict__.pop(_KEPT, None)

"""Decisions as programs read them: from a number on, in the order in which they took effect."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Exists, OuterRef, Q

from banks import access
from banks.models import Bank, Write
from reviews.models import Decision

LOOKED_THROUGH = 5_000  # numbers, for one page: most may be of banks that are not asked for
Verdict = Decision.Verdict
CLOSING = [Verdict.APPROVED, Verdict.DELETED, Verdict.GONE, Verdict.REJECTED]


@dataclass(frozen=True)
class FeedPage:
    """`last`: the highest number that was looked at; `more`: whether there are higher ones now."""

    rows: Sequence[Decision]
    last: int
    more: bool


def decisions_after(user: Any, last: int, size: int, *, bank: Bank | None = None) -> FeedPage:
    """What this person may see of the numbers behind `last`. Three queries, however few of them there are."""
    behind = Decision.objects.filter(number__gt=last)
    highest = behind.order_by("-number").values_list("number", flat=True).first()
    if highest is None:
        return FeedPage([], last, more=False)
    end = min(last + LOOKED_THROUGH, highest)
    banks = [bank.pk] if bank else access.bank_ids_for(user)
    rows = behind.filter(number__lte=end)
    if banks is not None:
        rows = rows.filter(entry__bank__in=banks)
    rows = rows.select_related("entry__bank__server", "write", "event").only(
        *("verdict", "decided_via", "user_name", "at", "number", "text_hash"),
        *("entry__document_id", "entry__bank__bank_id", "entry__bank__server__name", "write__state", "event__by"),
    )
    found = list(rows.annotate(taken_back=_taken_back()).order_by("number")[: size + 1])
    if len(found) > size:
        found = found[:size]
        return FeedPage(found, found[-1].number or 0, more=True)
    return FeedPage(found, end, more=end < highest)


def is_undone(decision: Decision) -> bool:
    """Taken back since, or never done. Of rows of `decisions_after`."""
    if decision.verdict not in CLOSING:
        return False
    cancelled = decision.verdict == Verdict.DELETED and decision.write and decision.write.state == Write.State.CANCELLED
    return bool(cancelled or decision.taken_back)  # type: ignore[attr-defined]


def _taken_back() -> Exists:
    later = Q(number__gt=OuterRef("number")) | Q(number__isnull=True, pk__gt=OuterRef("pk"))
    return Exists(Decision.objects.filter(later, entry=OuterRef("entry"), verdict=Verdict.REOPENED))

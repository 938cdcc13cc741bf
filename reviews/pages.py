"""Where the pages of `banks` find ours, and what they are told of facts."""

from collections.abc import Collection

from django.urls import reverse

from banks import hooks
from banks.models import Bank, RetainItem
from reviews.models import FactDecision, ReviewEntry
from reviews.services.facts import moved_since


def card_of(bank: Bank, document_hash: str) -> str:
    """The address of the card of this document, "" when there is none."""
    found = ReviewEntry.objects.filter(bank=bank, document_hash=document_hash).values_list("pk", flat=True).first()
    return reverse("reviews:entry-detail", args=[found]) if found else ""


def review_of(item: RetainItem) -> str:
    """The address of the card of a memory that was held, "" when it is none of its own any more."""
    found = ReviewEntry.objects.filter(item=item).values_list("pk", flat=True).first()
    return reverse("reviews:entry-detail", args=[found]) if found else ""


def gone_of(facts: Collection[tuple[int, str]]) -> set[tuple[int, str]]:
    now = moved_since(facts)
    decided = FactDecision.objects.filter(
        bank__in={bank for bank, _ in facts}, fact_id__in=set(now.values()), gone_since__isnull=False
    )
    gone = {(int(bank), fact_id) for bank, fact_id in decided.values_list("bank", "fact_id")}
    return {each for each, fact_id in now.items() if (each[0], fact_id) in gone}


hooks.has_pages(card_of)
hooks.has_reviews(review_of)
hooks.knows_gone(gone_of)

"""Addresses of what can be done to a fact of a list: on a card, on the page of a bank, among the hits of a query."""

from dataclasses import dataclass

from django.urls import reverse

from banks.models import Bank
from reviews.models import ReviewEntry


@dataclass(frozen=True)
class Acts:
    """`edit`, `impact` and `sources` want the fact's id behind them."""

    retire: str
    restore: str
    save: str
    edit: str
    impact: str
    sources: str


def acts_on_card(entry: ReviewEntry, query: str) -> Acts:
    """`query`: of the list that the card is walked in, "?…" or ""."""
    return _acts(entry.bank, query, "reviews:fact-", entry.pk)


def acts_in_bank(bank: Bank, query: str) -> Acts:
    return _acts(bank, query, "reviews:bank-fact-", bank.pk)


def acts_on_desk(bank: Bank, job: int) -> Acts:
    """Of the hits of a query, which is this job."""
    return _acts(bank, "", "reviews:recall-fact-", job)


def _acts(bank: Bank, query: str, names: str, pk: int) -> Acts:
    def named(act: str) -> str:
        return reverse(f"{names}{act}", args=[pk]) + query

    return Acts(
        retire=named("retire"),
        restore=named("restore"),
        save=named("edit"),
        edit=f"{named('edit')}{'&' if query else '?'}fact=",
        impact=f"{reverse('reviews:bank-fact-impact', args=[bank.pk])}?fact=",
        sources=f"{reverse('reviews:bank-fact-sources', args=[bank.pk])}?fact=",
    )

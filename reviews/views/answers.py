"""The answers of the card's views: whole pages, or the card alone when htmx asks."""

from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse

from banks import access
from banks.paper import Paper, paper
from memadmin.filtering import number_of
from memadmin.htmx import PersonRequest, SeeOther, wants_fragment
from reviews.access import get_entry
from reviews.models import ReviewEntry
from reviews.selectors import card, facts, queue
from reviews.selectors.changes import Changes, Mark
from reviews.selectors.filters import Filters
from reviews.selectors.marks import marks_of
from reviews.selectors.shown import Shown
from reviews.selectors.standing import standing_of
from reviews.services.approvals import approvals_of
from reviews.services.reading import unread_parts
from reviews.views.fact_acts import acts_on_card


@dataclass(frozen=True)
class Notice:
    """What has just happened, said on the card itself."""

    text: str
    tone: str = "attention"


def card_url(pk: int, filters: Filters) -> str:
    return reverse("reviews:entry-detail", args=[pk]) + filters.query()


def card_context(
    request: PersonRequest, entry: ReviewEntry, filters: Filters, shown: Shown | None = None
) -> dict[str, Any]:
    """What every form of the card shows: reading, editing, in conflict. `shown`: what the form was made from."""
    user = request.user
    previous, following = queue.neighbours(user, filters, entry)
    return {
        "entry": entry,
        "filters": filters,
        "previous": previous,
        "following": following[0] if following else None,
        "near": [card_url(pk, filters) for pk in following],
        "may_decide": card.may_decide(access.role_on(user, entry.bank)),
        "shown": shown or Shown.now(entry),
        "lease": card.lease_on_card(entry, user),
        "approvals": approvals_of(entry, user),
        "today": queue.today(user),
        "back": filters.query(),
    }


def show_card(
    request: PersonRequest,
    entry: ReviewEntry,
    filters: Filters,
    *,
    notice: Notice | None = None,
    announce: str = "",
    status: int = 200,
    revealed: bool = False,
) -> HttpResponse:
    sheet = _sheet(request, entry, revealed=revealed)
    here = f"{card_url(entry.pk, filters)}{'&' if filters.query() else '?'}"
    part = sheet.part if sheet else 0
    context = {
        **card_context(request, entry, filters, Shown.now(entry, part=part)),
        "paper": sheet,
        "unread": unread_parts(user=request.user, entry=entry, part=part) if entry.loaded else [],
        "part_url": f"{here}full=",
        **sheet_context(request, entry, filters),
        "standing": standing_of(entry, fix=request.user.is_superuser),
        "watched": entry.waits,
        "readers": card.readers_of(entry, request.user),
        "history": card.history_of(entry),
        "deletion": card.deletion_of(entry),
        "notice": notice,
        "announce": announce,
        "found": marks_of(entry),
        "revealed": revealed,
    }
    return answer(request, "entry_card", "entry_detail", context, card_url(entry.pk, filters), status=status)


def sheet_context(request: PersonRequest, entry: ReviewEntry, filters: Filters) -> dict[str, Any]:
    """What the list of facts on the card needs, beside who may decide."""
    here = f"{card_url(entry.pk, filters)}{'&' if filters.query() else '?'}"
    everything = request.GET.get("facts") == "all"
    return {
        "sheet": facts.sheet_of(entry, everything=everything),
        "facts_url": f"{here}facts=all#facts",
        "facts_all": everything,
        "acts": acts_on_card(entry, filters.query()),
        "selected": request.GET.get("fact", ""),
    }


def _sheet(request: PersonRequest, entry: ReviewEntry, *, revealed: bool) -> Paper | None:
    """The text as the page shows it: both ends of a long one at first, or the part that was asked for."""
    if entry.text is None or entry.text.erased:
        return None
    part = number_of(request.GET.get("full", ""), digits=5)
    return paper(entry.text.text, part, revealed=revealed)


def answer(
    request: PersonRequest, fragment: str, page: str, context: dict[str, Any], url: str, *, status: int = 200
) -> HttpResponse:
    """The page, or for htmx its card, which then takes the place of the one on screen at the page's own address."""
    if not wants_fragment(request):
        return render(request, f"reviews/{page}.html", context, status=status)
    response = render(request, f"reviews/_{fragment}.html", {**context, "fragment": True}, status=status)
    response["HX-Retarget"] = "#main"
    response["HX-Reswap"] = "outerHTML show:none"
    if request.method == "POST" and status < 400:
        response["HX-Push-Url"] = url
    return response


def show_next(request: PersonRequest, pk: int | None, filters: Filters, said: str) -> HttpResponse:
    """After a decision: the next card in the same answer, or without htmx by a redirect."""
    filters = filters.undecided
    if not wants_fragment(request):
        if said:
            messages.success(request, said)
        return SeeOther(card_url(pk, filters) if pk else reverse("reviews:entry-list") + filters.query())
    if pk is None:
        return show_done(request, said)
    entry = get_entry(request.user, pk)
    return show_card(request, entry, filters, announce=f"{said} Next: {entry.document_id}".strip())


def show_done(request: PersonRequest, said: str) -> HttpResponse:
    user = request.user
    context = {
        "tabs": queue.tabs(user, Filters()),
        "filters": Filters(),
        "changes": Changes([], Mark.now()),
        "today": queue.today(user),
        "announce": said,
    }
    return answer(request, "entry_done", "entry_done", context, reverse("reviews:entry-list"))

"""Two people, or a person and an agent, on one memory: what was seen, what it is now, who did what, and the ways on."""

from typing import Any

from django.http import HttpResponse
from django.views.decorators.http import require_safe

from banks.diffs import diff
from banks.models import Blob, Role
from banks.paper import paper
from banks.secrets.masking import numbered
from memadmin.htmx import PersonRequest
from reviews.access import get_entry
from reviews.models import ReviewEntry
from reviews.selectors import card
from reviews.selectors.filters import Filters
from reviews.selectors.news import latest_decisions, news_of, standing_of
from reviews.selectors.shown import Shown, text_shown
from reviews.text import normalise_newlines
from reviews.views.answers import Notice, answer, card_context, card_url, show_card


@require_safe
def entry_changed(request: PersonRequest, pk: int) -> HttpResponse:
    """From a card that went stale on screen: the same page as after a conflict, before anybody tried anything."""
    entry = get_entry(request.user, pk, Role.REVIEWER)
    filters, shown = Filters.parse(request.GET), Shown.parse(request.GET)
    if shown is None or (shown.version, shown.text_hash) == (entry.version, entry.text_id or ""):
        return show_card(request, entry, filters)
    return show_conflict(request, entry, filters, shown, tried=False)


def show_conflict(
    request: PersonRequest,
    entry: ReviewEntry,
    filters: Filters,
    shown: Shown,
    *,
    typed: str | None = None,
    notice: Notice | None = None,
    tried: bool = True,
) -> HttpResponse:
    """409 when something was tried: nothing of it was done. `typed`: the text of an edit, which is kept."""
    latest = latest_decisions([entry]).get(entry.pk)
    news = news_of(entry, latest, request.user, version=shown.version, text=shown.text_hash)
    if news is None and not entry.waits:
        news = standing_of(entry, latest, request.user)
    context = {
        **card_context(request, entry, filters),
        **_texts(entry, shown, typed),
        "news": news,
        "events": card.decisions_since(entry, shown.version),
        "typed": None if typed is None else numbered(typed)[0],
        "notice": notice,
        "tried": tried,
    }
    url = card_url(entry.pk, filters)
    return answer(request, "entry_conflict", "entry_conflict", context, url, status=409 if tried else 200)


def _texts(entry: ReviewEntry, shown: Shown, typed: str | None) -> dict[str, Any]:
    """`before` is what was seen (None: not here any more), `paper` what it is now, each as far as it is kept."""
    before, now = _text(text_shown(entry, shown)), _text(entry.text)
    same = shown.text_hash == (entry.text_id or "")
    return {
        "same": same,
        "before": paper(before) if before is not None else None,
        "paper": paper(now) if now is not None else None,
        "change": diff(before, now) if not same and before is not None and now is not None else None,
        "own": diff(now, normalise_newlines(typed, now)) if typed is not None and now is not None else None,
    }


def _text(blob: Blob | None) -> str | None:
    return None if blob is None or blob.erased else blob.text

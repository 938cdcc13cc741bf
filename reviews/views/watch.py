"""Several people on one queue: what an open card and a list on screen ask about every few seconds."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from banks.models import Role
from memadmin.htmx import PersonRequest
from reviews.access import get_entry
from reviews.models import ReviewEntry
from reviews.selectors import card
from reviews.selectors.changes import Changes, Mark, changes
from reviews.selectors.filters import Filters
from reviews.selectors.news import News, latest_decisions, news_of
from reviews.selectors.shown import Shown
from reviews.services.seen import close_card, open_card

NOTHING_NEW = 204


@require_safe
def entry_changes(request: PersonRequest) -> HttpResponse:
    """The rows of the list that are no longer what it shows, and how many have arrived."""
    filters = Filters.parse(request.GET)
    now = changes(request.user, filters, request.GET.get("rows", ""), Mark.parse(request.GET.get("mark", "")))
    if not any(row.differs for row in now.rows) and str(now.new) == request.GET.get("new", ""):
        return HttpResponse(status=NOTHING_NEW)
    context = {"changes": now, "filters": filters, "oob": True, "said": _said(now, request.GET.get("new", ""))}
    return render(request, "reviews/_entry_changes.html", context)


def _said(now: Changes, new_before: str) -> str:
    """Read out once: not every minute that makes a stale row older."""
    stale = sum(row.differs and row.stale and not row.before.startswith("s") for row in now.rows)
    said = [f"{now.new} new."] if now.new and str(now.new) != new_before else []
    if stale:
        said.append(f"{stale} row{'' if stale == 1 else 's'} of this list changed.")
    return " ".join(said)


@require_POST
def entry_open(request: PersonRequest, pk: int) -> HttpResponse:
    """Sent by the card on screen while it is visible: others see who has it, its text counts as seen, and the answer
    says what has happened to it since it was shown. Never by a GET, nor by a page that is only prepared."""
    entry = get_entry(request.user, pk, Role.REVIEWER)
    shown = Shown.parse(request.POST)
    if shown is None or "prefetch" in request.headers.get("Sec-Purpose", ""):
        return HttpResponse(status=NOTHING_NEW)
    news = _news(request, entry, shown)
    lease = card.lease_on_card(entry, request.user)
    context = {"entry": entry, "filters": Filters.parse(request.GET), "news": news, "lease": lease, "shown": shown}
    context |= {"asked": True, "editing": "editing" in request.POST}
    if news:
        return render(request, "reviews/_entry_stale.html", context)
    if shown.text_hash == (entry.text_id or "") or not entry.loaded:
        open_card(user=request.user, entry=entry, part=shown.part)
    if lease is None and not request.POST.get("lease"):
        return HttpResponse(status=NOTHING_NEW)
    return render(request, "reviews/_entry_watch.html", context)


@require_POST
def entry_leave(request: PersonRequest, pk: int) -> HttpResponse:
    """Sent when the card is left without a decision: others need not wait for the lease to end."""
    close_card(user=request.user, entry=get_entry(request.user, pk, Role.REVIEWER))
    return HttpResponse(status=NOTHING_NEW)


def _news(request: PersonRequest, entry: ReviewEntry, shown: Shown) -> News | None:
    if entry.version == shown.version:
        return None
    latest = latest_decisions([entry]).get(entry.pk)
    return news_of(entry, latest, request.user, version=shown.version, text=shown.text_hash)

"""Looking at one memory. Nothing here decides anything."""

from django.http import HttpResponse
from django.views.decorators.http import require_POST, require_safe

from memadmin.htmx import PersonRequest, SeeOther, wants_fragment
from reviews.access import get_entry
from reviews.models import ReviewEntry
from reviews.selectors.filters import Filters
from reviews.services import decide
from reviews.views.answers import Notice, card_url, show_card


@require_safe
def entry_detail(request: PersonRequest, pk: int) -> HttpResponse:
    entry = get_entry(request.user, pk)
    if "poll" in request.GET and entry.load_state == ReviewEntry.Load.LOADING:
        return HttpResponse(status=204)  # nothing to show yet; the card asks again
    return show_card(request, entry, Filters.parse(request.GET))


@require_POST
def entry_reload(request: PersonRequest, pk: int) -> HttpResponse:
    decide.reload(user=request.user, entry_id=pk)
    filters = Filters.parse(request.GET)
    if not wants_fragment(request):
        return SeeOther(card_url(pk, filters))
    said = "The text is being read from the bank again."
    return show_card(request, get_entry(request.user, pk), filters, notice=Notice(said, "none"), announce=said)

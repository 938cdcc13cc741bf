"""“Extract again”: what it costs is said before, and asked for by a post of its own."""

from django.contrib import messages
from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from banks.models import Role
from memadmin.htmx import PersonRequest, SeeOther, wants_fragment
from reviews.access import get_entry
from reviews.errors import Conflict, NotDecided
from reviews.models import ReviewEntry
from reviews.selectors.facts import stake_of, staked
from reviews.selectors.filters import Filters
from reviews.selectors.shown import Shown
from reviews.services import extraction
from reviews.views.answers import Notice, answer, card_context, card_url, show_card
from reviews.views.conflict import show_conflict
from reviews.views.decide import UNSEEN

NOT_LOADED = Notice("Only a memory whose document is in the bank and loaded here can be extracted again.")
STARTED = "The bank extracts the facts again. The list follows when it has ended."


@require_http_methods(["GET", "HEAD", "POST"])
def entry_extract(request: PersonRequest, pk: int) -> HttpResponse:
    entry = get_entry(request.user, pk, Role.REVIEWER)
    filters = Filters.parse(request.GET)
    if request.method != "POST":
        if not extraction.may_extract(entry):
            return show_card(request, entry, filters, notice=NOT_LOADED, status=409)
        return _confirm(request, entry, filters)
    shown = Shown.parse(request.POST)
    if shown is None:
        return show_card(request, entry, filters, notice=UNSEEN, status=422)
    try:
        extraction.extract_again(
            user=request.user,
            entry_id=pk,
            version=shown.version,
            text_hash=shown.text_hash,
            facts_hash=request.POST.get("facts", ""),
        )
    except Conflict as conflict:
        return show_conflict(request, conflict.entry, filters, shown)
    except NotDecided as refused:
        return show_card(request, get_entry(request.user, pk), filters, notice=Notice(str(refused)), status=409)
    if not wants_fragment(request):
        messages.success(request, STARTED)
        return SeeOther(f"{card_url(pk, filters)}#facts")
    return show_card(request, get_entry(request.user, pk), filters, notice=Notice(STARTED, "none"), announce=STARTED)


def _confirm(request: PersonRequest, entry: ReviewEntry, filters: Filters) -> HttpResponse:
    context = {
        **card_context(request, entry, filters),
        "stake": stake_of(entry),
        "staked": staked(entry),
        "old_server": entry.bank.server.api_version.startswith("0."),
    }
    url = f"{card_url(entry.pk, Filters())}extract/{filters.query()}"
    return answer(request, "entry_extract", "entry_extract", context, url)

"""What a reviewer does about the marks of a memory: looks at a masked secret, or says that a mark is no risk."""

from django.contrib import messages
from django.http import HttpResponse
from django.views.decorators.http import require_POST

from banks.models import Role
from memadmin.filtering import number_of
from memadmin.htmx import PersonRequest, SeeOther, wants_fragment
from reviews.access import get_entry
from reviews.errors import NotDecided
from reviews.selectors.filters import Filters
from reviews.services import marking
from reviews.views.answers import Notice, card_url, show_card

REVEALED = "Its secrets are shown until you leave this page. The log says that you looked."
WITHOUT_A_REASON = Notice("Say why it is no risk; nothing was changed.")


@require_POST
def entry_reveal(request: PersonRequest, pk: int) -> HttpResponse:
    """The card once with its secrets, in the answer to the post alone: no address shows them."""
    entry = marking.reveal(user=request.user, entry_id=pk)
    notice = Notice(REVEALED)
    return show_card(request, entry, Filters.parse(request.GET), notice=notice, announce=REVEALED, revealed=True)


@require_POST
def entry_dismiss(request: PersonRequest, pk: int) -> HttpResponse:
    filters, reason = Filters.parse(request.GET), request.POST.get("reason", "").replace("\x00", "").strip()
    entry = get_entry(request.user, pk, Role.REVIEWER)
    if not reason:
        return show_card(request, entry, filters, notice=WITHOUT_A_REASON, status=422)
    mark = number_of(request.POST.get("mark", ""), digits=15)
    try:
        marking.dismiss(user=request.user, entry_id=pk, mark_id=mark, reason=reason)
    except NotDecided as refused:
        return show_card(request, entry, filters, notice=Notice(str(refused)), status=409)
    said = "The mark is dismissed; the log keeps who said so, and why."
    if wants_fragment(request):
        return show_card(request, get_entry(request.user, pk), filters, notice=Notice(said, "none"), announce=said)
    messages.success(request, said)
    return SeeOther(card_url(pk, filters))

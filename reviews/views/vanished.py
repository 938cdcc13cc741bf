"""The ways out when the bank no longer holds a memory, or drew nothing from it. One post for each."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpResponse
from django.views.decorators.http import require_POST

from memadmin.htmx import PersonRequest, SeeOther
from reviews.access import get_entry
from reviews.errors import NotDecided
from reviews.selectors.filters import Filters
from reviews.services import vanished
from reviews.views.answers import Notice, card_url, show_card


@require_POST
def entry_close(request: PersonRequest, pk: int) -> HttpResponse:
    def act() -> str:
        vanished.close(user=request.user, entry_id=pk, version=_version(request))
        return "Closed as gone. Nothing was sent; it can be taken back."

    return _answer(request, pk, act)


@require_POST
def entry_put_back(request: PersonRequest, pk: int) -> HttpResponse:
    def act() -> str:
        vanished.put_back_vanished(user=request.user, entry_id=pk, version=_version(request))
        return "It is being put back from our stored text. Its facts will get new ids."

    return _answer(request, pk, act)


@require_POST
def entry_revert(request: PersonRequest, pk: int) -> HttpResponse:
    def act() -> str:
        shown = request.POST.get("text_hash", "")
        vanished.revert_edit(user=request.user, entry_id=pk, version=_version(request), text_hash=shown)
        return "The earlier text is being stored again."

    return _answer(request, pk, act)


def _answer(request: PersonRequest, pk: int, act: Callable[[], str]) -> HttpResponse:
    """Back to the card, which says what became of it; a refusal is 409 and has changed nothing."""
    filters = Filters.parse(request.GET)
    try:
        said = act()
    except NotDecided as refused:
        entry = get_entry(request.user, pk)
        return show_card(request, entry, filters, notice=Notice(str(refused)), status=409)
    messages.success(request, said)
    return SeeOther(card_url(pk, filters))


def _version(request: PersonRequest) -> int:
    text = request.POST.get("version", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0

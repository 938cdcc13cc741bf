"""Editing one memory: the whole text, compared with what is there before anything is sent."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from banks.diffs import diff
from banks.models import Role
from memadmin.htmx import PersonRequest, wants_fragment
from reviews import display
from reviews.access import get_entry
from reviews.errors import Conflict, NotDecided
from reviews.models import Decision, ReviewEntry
from reviews.selectors import queue
from reviews.selectors.filters import Filters
from reviews.services import decide
from reviews.text import normalise_newlines
from reviews.views.answers import Notice, answer, card_context, card_url, show_card, show_next
from reviews.views.decide import UNSEEN, Shown, is_mine

# Above this the comparison is made when asked for, not while typing.
LIVE_DIFF = 100_000
NOT_EDITABLE = Notice("Only a pending memory whose text is loaded can be edited.")
UNCHANGED = Notice("The text is the same as before, so nothing was sent.", "none")


@require_http_methods(["GET", "HEAD", "POST"])
def entry_edit(request: PersonRequest, pk: int) -> HttpResponse:
    entry = get_entry(request.user, pk, Role.REVIEWER)
    filters = Filters.parse(request.GET)
    if request.method != "POST":
        if not _editable(entry):
            return show_card(request, entry, filters, notice=NOT_EDITABLE, status=409)
        return _form(request, entry, filters, _stored(entry), Shown(entry.version, entry.text_id or ""))
    text, shown = request.POST.get("text", ""), Shown.of(request)
    if shown is None:
        return show_card(request, entry, filters, notice=UNSEEN, status=422)
    wanted = request.POST.get("do", "save")
    if wanted == "preview":
        return _preview(request, entry, filters, text, shown)
    if wanted == "reopen":
        return _reopen(request, entry, filters, text)
    return _save(request, entry, filters, text, shown)


def _save(request: PersonRequest, entry: ReviewEntry, filters: Filters, text: str, shown: Shown) -> HttpResponse:
    following = queue.next_after(request.user, filters, entry)
    saved = f"Saved {entry.document_id}; it comes back for a second look."
    try:
        write = decide.edit(
            user=request.user, entry_id=entry.pk, version=shown.version, text_hash=shown.text_hash, new_text=text
        )
    except Conflict as conflict:
        if is_mine(conflict, request, Decision.Verdict.EDITED, shown):
            return show_next(request, following, filters, saved)  # a second click is not a second edit
        return _conflict(request, conflict, filters, text)
    except NotDecided as refused:
        return _form(request, entry, filters, text, shown, error=str(refused), status=422)
    if write is None:
        return show_card(request, entry, filters, notice=UNCHANGED, announce=UNCHANGED.text)
    return show_next(request, following, filters, saved)


def _reopen(request: PersonRequest, entry: ReviewEntry, filters: Filters, text: str) -> HttpResponse:
    """Out of a conflict: takes the other's decision back and goes on editing. Nothing is saved by it."""
    if entry.state != ReviewEntry.State.PENDING:
        try:
            decide.undo(user=request.user, entry_id=entry.pk)
        except NotDecided as refused:
            return show_card(
                request, get_entry(request.user, entry.pk), filters, notice=Notice(str(refused)), status=409
            )
        entry = get_entry(request.user, entry.pk, Role.REVIEWER)
    if not _editable(entry):
        return show_card(request, entry, filters, notice=NOT_EDITABLE, status=409)
    return _form(request, entry, filters, text, Shown(entry.version, entry.text_id or ""))


def _form(
    request: PersonRequest,
    entry: ReviewEntry,
    filters: Filters,
    text: str,
    shown: Shown,
    *,
    error: str = "",
    status: int = 200,
) -> HttpResponse:
    context = {
        **card_context(request, entry, filters),
        **_comparison(entry, text),
        "text": text,
        "shown": shown,
        "error": error,
        "live_diff": len(text) <= LIVE_DIFF,
    }
    url = f"{card_url(entry.pk, Filters())}edit/{filters.query()}"
    return answer(request, "entry_edit", "entry_form", context, url, status=status)


def _preview(request: PersonRequest, entry: ReviewEntry, filters: Filters, text: str, shown: Shown) -> HttpResponse:
    if not wants_fragment(request):
        return _form(request, entry, filters, text, shown)
    return render(request, "reviews/_entry_preview.html", {"entry": entry, **_comparison(entry, text)})


def _conflict(request: PersonRequest, conflict: Conflict, filters: Filters, text: str) -> HttpResponse:
    """409: what was decided and by whom, and the person's own text, which is not lost."""
    entry = conflict.entry
    context = {
        **card_context(request, entry, filters),
        **_comparison(entry, text),
        "conflict": conflict,
        "text": text,
        "paper": display.paper(_stored(entry)),
    }
    return answer(request, "entry_conflict", "entry_conflict", context, card_url(entry.pk, filters), status=409)


def _comparison(entry: ReviewEntry, text: str) -> dict[str, Any]:
    stored = _stored(entry)
    new = normalise_newlines(text, stored)
    return {"diff": diff(stored, new), "length": len(new), "length_before": len(stored)}


def _stored(entry: ReviewEntry) -> str:
    return entry.text.text if entry.text else ""


def _editable(entry: ReviewEntry) -> bool:
    return entry.state == ReviewEntry.State.PENDING and entry.loaded and entry.text is not None

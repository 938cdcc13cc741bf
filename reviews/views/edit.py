"""Editing one memory: the whole text, compared with what is there before anything is sent."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from banks.diffs import diff
from banks.models import Role
from banks.secrets.masking import numbered, restored
from memadmin.htmx import PersonRequest, wants_fragment
from reviews.access import get_entry
from reviews.errors import Conflict, NotDecided
from reviews.models import Decision, ReviewEntry
from reviews.selectors import queue
from reviews.selectors.facts import stake_of
from reviews.selectors.filters import Filters
from reviews.selectors.shown import Shown, text_shown
from reviews.services import decide
from reviews.text import normalise_newlines
from reviews.views.answers import Notice, answer, card_context, card_url, show_card, show_next
from reviews.views.conflict import show_conflict
from reviews.views.decide import UNSEEN, is_mine

# Above this the comparison is made when asked for, not while typing.
LIVE_DIFF = 100_000
NOT_EDITABLE = Notice("Only a pending or held memory whose text is loaded can be edited.")
UNCHANGED = Notice("The text is the same as before, so nothing was sent.", "none")


@require_http_methods(["GET", "HEAD", "POST"])
def entry_edit(request: PersonRequest, pk: int) -> HttpResponse:
    entry = get_entry(request.user, pk, Role.REVIEWER)
    filters = Filters.parse(request.GET)
    if request.method != "POST":
        if not _editable(entry):
            return show_card(request, entry, filters, notice=NOT_EDITABLE, status=409)
        return _form(request, entry, filters, _stored(entry), Shown.now(entry))
    shown = Shown.parse(request.POST)
    if shown is None:
        return show_card(request, entry, filters, notice=UNSEEN, status=422)
    text = _typed(request, entry, shown)
    wanted = request.POST.get("do", "save")
    if wanted == "preview":
        return _preview(request, entry, filters, text, shown)
    if wanted == "reopen":
        return _reopen(request, entry, filters, text, shown)
    return _save(request, entry, filters, text, shown)


def _save(request: PersonRequest, entry: ReviewEntry, filters: Filters, text: str, shown: Shown) -> HttpResponse:
    following = queue.next_after(request.user, filters, entry)
    saved = f"Saved {entry.document_id}; it {'is still held' if entry.held else 'comes back for a second look'}."
    try:
        write = decide.edit(
            user=request.user, entry_id=entry.pk, version=shown.version, text_hash=shown.text_hash, new_text=text
        )
    except Conflict as conflict:
        if is_mine(conflict, request, Decision.Verdict.EDITED, shown) and _is_what_was_sent(conflict, text):
            return show_next(request, following, filters, saved)  # a second click is not a second edit
        return show_conflict(request, conflict.entry, filters, shown, typed=text)
    except NotDecided as refused:
        return _form(request, entry, filters, text, shown, error=str(refused), status=422)
    if write is None:
        return show_card(request, entry, filters, notice=UNCHANGED, announce=UNCHANGED.text)
    return show_next(request, following, filters, saved)


def _is_what_was_sent(conflict: Conflict, text: str) -> bool:
    """Whether the edit that was faster brought this same text; another one, from another tab, must not get lost."""
    write = conflict.decision.write if conflict.decision else None
    if write is None or write.request is None or write.before is None:
        return False
    return normalise_newlines(text, write.before.text) == write.request.text


def _reopen(request: PersonRequest, entry: ReviewEntry, filters: Filters, text: str, shown: Shown) -> HttpResponse:
    """Out of a conflict: takes the other's decision back and goes on editing. Nothing is saved by it."""
    if not entry.waits:
        try:
            decide.undo(user=request.user, entry_id=entry.pk, version=shown.version)
        except NotDecided as refused:
            entry, notice = get_entry(request.user, entry.pk), Notice(str(refused))
            return show_conflict(request, entry, filters, shown, typed=text, notice=notice)
        entry = get_entry(request.user, entry.pk, Role.REVIEWER)
    if not _editable(entry):
        return show_conflict(request, entry, filters, shown, typed=text, notice=NOT_EDITABLE)
    return _form(request, entry, filters, text, Shown.now(entry))


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
        **card_context(request, entry, filters, shown),
        **_comparison(entry, text),
        "text": numbered(text)[0],
        "editing": True,
        "watched": True,
        "error": error,
        "stake": stake_of(entry),
        "live_diff": len(text) <= LIVE_DIFF,
    }
    url = f"{card_url(entry.pk, Filters())}edit/{filters.query()}"
    return answer(request, "entry_edit", "entry_form", context, url, status=status)


def _preview(request: PersonRequest, entry: ReviewEntry, filters: Filters, text: str, shown: Shown) -> HttpResponse:
    if not wants_fragment(request):
        return _form(request, entry, filters, text, shown)
    return render(request, "reviews/_entry_preview.html", {"entry": entry, **_comparison(entry, text)})


def _comparison(entry: ReviewEntry, text: str) -> dict[str, Any]:
    stored = _stored(entry)
    new = normalise_newlines(text, stored)
    return {"diff": diff(stored, new), "length": len(new), "length_before": len(stored)}


def _typed(request: PersonRequest, entry: ReviewEntry, shown: Shown) -> str:
    """The text of the form, in which secrets go by a name, with the secrets that were left in it."""
    original = text_shown(entry, shown)
    return restored(request.POST.get("text", ""), original.text if original else _stored(entry))


def _stored(entry: ReviewEntry) -> str:
    return entry.text.text if entry.text else ""


def _editable(entry: ReviewEntry) -> bool:
    return entry.waits and entry.loaded and entry.text is not None

"""Deciding on one memory. Every post carries what was on screen: the version and the hash of the text."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_POST

from banks.access import banks_for
from banks.models import Role, Write
from memadmin.htmx import PersonRequest, SeeOther, wants_fragment
from reviews.access import get_entry, get_entry_to_decide
from reviews.errors import AlreadyVouched, Conflict, NotDecided
from reviews.models import Decision, ReviewEntry
from reviews.selectors import queue
from reviews.selectors.filters import Filters
from reviews.selectors.shown import Shown
from reviews.services import decide
from reviews.views.answers import Notice, card_url, show_card, show_next
from reviews.views.conflict import show_conflict

ONE_OF_TWO = " It is one of two approvals: another person has to approve it too."
UNSEEN = Notice("The request did not say which version you saw, so nothing was decided. Look at it and press again.")


@require_POST
def entry_approve(request: PersonRequest, pk: int) -> HttpResponse:
    def act(shown: Shown, **decided_on: Any) -> str:
        made = decide.approve(part=shown.part, **decided_on)
        return ONE_OF_TWO if made.verdict == Decision.Verdict.VOUCHED else ""

    return _decide(request, pk, act, Decision.Verdict.APPROVED)


@require_POST
def entry_delete(request: PersonRequest, pk: int) -> HttpResponse:
    def act(shown: Shown, **decided_on: Any) -> str:
        decide.delete(**decided_on)
        return ""

    return _decide(request, pk, act, Decision.Verdict.DELETED)


def _decide(request: PersonRequest, pk: int, act: Callable[..., str], verdict: Decision.Verdict) -> HttpResponse:
    entry = get_entry_to_decide(request.user, pk)
    if entry.item_id is not None and verdict == Decision.Verdict.DELETED:
        verdict = Decision.Verdict.REJECTED  # what is no document yet
    filters = Filters.parse(request.GET)
    shown = Shown.parse(request.POST)
    if shown is None:
        return show_card(request, entry, filters, notice=UNSEEN, status=422)
    following = queue.next_after(request.user, filters, entry)
    said = f"{verdict.label.capitalize()} {entry.document_id}."
    try:
        more = act(shown, user=request.user, entry_id=pk, version=shown.version, text_hash=shown.text_hash, entry=entry)
    except AlreadyVouched as mine:
        return show_next(request, following, filters, str(mine))
    except Conflict as conflict:
        if is_mine(conflict, request, verdict, shown):
            return show_next(request, following, filters, said)  # a second click is not a second decision
        return show_conflict(request, conflict.entry, filters, shown)
    except NotDecided as refused:
        return show_card(request, get_entry(request.user, pk), filters, notice=Notice(str(refused)), status=409)
    return show_next(request, following, filters, said + more)


def is_mine(conflict: Conflict, request: PersonRequest, verdict: Decision.Verdict, shown: Shown) -> bool:
    """Whether the decision that was faster is this person's own, the same one, on the same version."""
    won = conflict.decision
    return (
        won is not None
        and won.user_id == request.user.pk
        and won.verdict == verdict
        and (won.version, won.text_hash) == (shown.version, shown.text_hash)
    )


@require_POST
def entry_undo(request: PersonRequest, pk: int) -> HttpResponse:
    """Takes back the latest decision and shows the memory again. With a version only the one that was on screen."""
    entry = get_entry(request.user, pk, Role.REVIEWER)
    filters, shown = Filters.parse(request.GET), Shown.parse(request.POST)
    try:
        decide.undo(user=request.user, entry_id=pk, version=shown.version if shown else None)
    except Conflict as conflict:
        if shown is None:
            return show_card(request, conflict.entry, filters, notice=Notice(conflict.sentence), status=409)
        back = _own_way_back(request, conflict)
        if back is None or back.version != shown.version:  # else a second click, which takes nothing else back
            return show_conflict(request, conflict.entry, filters, shown)
    except NotDecided as refused:
        return show_card(request, get_entry(request.user, pk), filters, notice=Notice(str(refused)), status=409)
    said = f"Taken back: {entry.document_id} is {'pending' if entry.item_id is None else 'held'} again."
    if not wants_fragment(request):
        messages.success(request, said)
        return SeeOther(card_url(pk, filters))
    return show_card(request, get_entry(request.user, pk), filters, announce=said)


def _own_way_back(request: PersonRequest, conflict: Conflict) -> Decision | None:
    """The latest decision, where this person made it and it opened the memory again."""
    latest = conflict.entry.decisions.select_related("write").order_by("-pk").first()
    mine = latest is not None and latest.user_id == request.user.pk
    return latest if mine and latest is not None and latest.verdict == Decision.Verdict.REOPENED else None


@require_POST
def write_put_back(request: PersonRequest, pk: int) -> HttpResponse:
    """From the log or from the card of a deleted memory: the document again, from our stored text."""
    deletion = get_object_or_404(Write.objects.filter(bank__in=banks_for(request.user), kind="delete"), pk=pk)
    try:
        decide.put_back(user=request.user, write_id=pk)
    except NotDecided as refused:
        back = _own_way_back(request, refused) if isinstance(refused, Conflict) else None
        if back is None or back.write is None or back.write.undo_of_id != deletion.pk:
            messages.warning(request, str(refused))
            return SeeOther(reverse("banks:write-detail", args=[pk]))
    messages.success(request, "The document is being put back. Its facts will get new ids.")
    entry = ReviewEntry.objects.of_document(bank=deletion.bank, document_id=deletion.document_id).first()
    return SeeOther(card_url(entry.pk, Filters()) if entry else reverse("banks:write-detail", args=[pk]))

"""Acts on single facts, from the card. Ids of facts travel in bodies and queries, never in paths."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from banks import access
from banks.diffs import diff
from banks.models import Role
from memadmin.htmx import PersonRequest, SeeOther, wants_fragment
from reviews.access import get_entry
from reviews.curation import reapply
from reviews.errors import FactRefused, FactTaken, NotDecided
from reviews.models import ReviewEntry
from reviews.selectors.card import may_decide
from reviews.selectors.facts import FactRow, fact_of
from reviews.selectors.filters import Filters
from reviews.selectors.retired_filters import RetiredFilters
from reviews.services import facts
from reviews.views.answers import Notice, answer, card_context, card_url, sheet_context, show_card
from reviews.views.fact_acts import acts_on_card

SAID = 80  # characters of a fact in a sentence
GONE = "This fact is not here any more; the list on screen was older."


@require_safe
def fact_list(request: PersonRequest, pk: int) -> HttpResponse:
    """The list alone, for a card that waits for the end of a write: 204 as long as it would look the same."""
    entry = get_entry(request.user, pk)
    filters = Filters.parse(request.GET)
    if not wants_fragment(request):
        return SeeOther(card_url(pk, filters))
    context = _context(request, entry, filters)
    if request.GET.get("mark") == context["sheet"].mark:
        return HttpResponse(status=204)
    return render(request, "reviews/_entry_facts.html", context)


@require_POST
def fact_retire(request: PersonRequest, pk: int) -> HttpResponse:
    def act(seen: facts.Seen) -> None:
        facts.retire(user=request.user, entry_id=pk, seen=seen, reason=request.POST.get("reason", ""))

    return _act(request, pk, act, "Retiring")


@require_POST
def fact_restore(request: PersonRequest, pk: int) -> HttpResponse:
    def act(seen: facts.Seen) -> None:
        facts.restore(user=request.user, entry_id=pk, seen=seen)

    return _act(request, pk, act, "Restoring")


def _act(request: PersonRequest, pk: int, act: Callable[[facts.Seen], None], doing: str) -> HttpResponse:
    entry = get_entry(request.user, pk, Role.REVIEWER)
    fact = fact_of(entry, request.POST.get("fact", ""))
    said = f"{doing} “{fact.text[:SAID]}{'…' if len(fact.text) > SAID else ''}”." if fact else ""
    try:
        act({request.POST.get("fact", ""): request.POST.get("seen", "")})
    except FactTaken as refused:
        return _answer(request, entry, Notice(str(refused)), status=409)
    except FactRefused as refused:
        return _answer(request, entry, Notice(str(refused)), status=422 if fact else 409)
    return _answer(request, entry, Notice(said, "none"))


def _answer(request: PersonRequest, entry: ReviewEntry, notice: Notice, *, status: int = 200) -> HttpResponse:
    """The list again, with what happened; without htmx the card, by a redirect where something was done."""
    filters = Filters.parse(request.GET)
    if wants_fragment(request):
        context = {**_context(request, entry, filters), "fact_notice": notice, "fragment": True}
        context["selected"] = request.POST.get("fact", "")
        return render(request, "reviews/_entry_facts.html", context, status=status)
    if status >= 400:
        return show_card(request, entry, filters, notice=notice, status=status)
    messages.success(request, notice.text)
    return SeeOther(f"{card_url(entry.pk, filters)}#facts")


@require_http_methods(["GET", "HEAD", "POST"])
def fact_edit(request: PersonRequest, pk: int) -> HttpResponse:
    entry = get_entry(request.user, pk, Role.REVIEWER)
    filters = Filters.parse(request.GET)
    given = request.POST if request.method == "POST" else request.GET
    fact = fact_of(entry, given.get("fact", ""))
    if fact is None:
        return show_card(request, entry, filters, notice=Notice(GONE), status=409)
    if request.method != "POST":
        if fact.observation or fact.retired or not fact.free:
            return show_card(request, entry, filters, notice=Notice(why_not_editable(fact)), status=409)
        return _form(request, entry, filters, fact, fact.text)
    text = request.POST.get("text", "")
    try:
        write = facts.edit(
            user=request.user, entry_id=pk, fact_id=fact.id, text_hash=request.POST.get("seen", ""), new_text=text
        )
    except FactRefused as refused:
        return _form(request, entry, filters, fact, text, error=str(refused), status=409)
    except NotDecided as refused:
        return _form(request, entry, filters, fact, text, error=str(refused), status=422)
    said = "The text is the same as before, so nothing was sent." if write is None else "The fact gets its new text."
    if not wants_fragment(request):
        messages.success(request, said)
        return SeeOther(f"{card_url(pk, filters)}#facts")
    return show_card(request, entry, filters, notice=Notice(said, "none"), announce=said)


def why_not_editable(fact: FactRow) -> str:
    if fact.observation:
        return "An observation is made from facts and follows them: change those."
    if fact.retired:
        return "It is retired. Restore it first, then change it."
    return "A write of this fact is under way. When it has ended, change it."


def _form(
    request: PersonRequest,
    entry: ReviewEntry,
    filters: Filters,
    fact: FactRow,
    text: str,
    *,
    error: str = "",
    status: int = 200,
) -> HttpResponse:
    context: dict[str, Any] = {
        **card_context(request, entry, filters),
        "fact": fact,
        "text": text,
        "error": error,
        "diff": diff(fact.text, text) if error and text != fact.text else None,
        "acts": acts_on_card(entry, filters.query()),
        "back_url": card_url(entry.pk, filters),
        "document_id": entry.document_id,
    }
    return answer(request, "fact_edit", "fact_form", context, request.get_full_path(), status=status)


@require_POST
def question_apply(request: PersonRequest, pk: int) -> HttpResponse:
    return _reply(request, pk, apply=True)


@require_POST
def question_let_go(request: PersonRequest, pk: int) -> HttpResponse:
    return _reply(request, pk, apply=False)


def _reply(request: PersonRequest, pk: int, *, apply: bool) -> HttpResponse:
    """A person's answer to whether an earlier decision holds for a fact that was extracted anew.

    Asked in the archive, it is answered there: not each document has a card.
    """
    question = reapply.get_question(request.user, pk)
    entries = ReviewEntry.objects.select_related("bank__server")
    entry = entries.of_document(bank=question.decision.bank, document_id=question.decision.document_id).first()
    said, status = "It is let go: the fact stays as it was extracted.", 200
    try:
        reapply.answer(user=request.user, reapplication_id=pk, apply=apply)
        said = "It is applied again." if apply else said
    except NotDecided as refused:
        said, status = str(refused), 409
    if entry is not None and "archive" not in request.POST:
        return _answer(request, entry, Notice(said, "none") if status == 200 else Notice(said), status=status)
    (messages.success if status == 200 else messages.warning)(request, said)
    return SeeOther(
        reverse("reviews:retired-list") + RetiredFilters.parse({**request.GET.dict(), "tab": "questions"}).query()
    )


def _context(request: PersonRequest, entry: ReviewEntry, filters: Filters) -> dict[str, Any]:
    return {
        "entry": entry,
        "filters": filters,
        "may_decide": may_decide(access.role_on(request.user, entry.bank)),
        **sheet_context(request, entry, filters),
    }


@require_POST
def write_restore(request: PersonRequest, pk: int) -> HttpResponse:
    """From the log: the facts of a retire row again, under the ids they have now."""
    try:
        made = facts.restore_row(user=request.user, write_id=pk)
    except NotDecided as refused:
        messages.warning(request, str(refused))
        return SeeOther(reverse("banks:write-detail", args=[pk]))
    number = sum(len(write.fact_ids) for write in made)
    told = f"Row {made[0].pk} says how it ended."
    if len(made) > 1:
        told = f"Each document has a row of its own, {made[0].pk} and {len(made) - 1:,} more; they say how it ended."
    messages.success(request, f"Restoring {number:,} fact{'' if number == 1 else 's'}. {told}")
    back = request.POST.get("next", "")
    safe = back.startswith("/") and url_has_allowed_host_and_scheme(back, allowed_hosts=None)
    return SeeOther(back if safe else reverse("banks:write-detail", args=[made[0].pk]))

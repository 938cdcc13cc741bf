"""Acts on the hits of a query, as on facts anywhere: the same services, and the answer is the list of the hits."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_POST

from banks.diffs import diff
from banks.models import Bank, Job, Role
from memadmin.htmx import PersonRequest, SeeOther, wants_fragment
from reviews.errors import FactRefused, FactTaken, NotDecided
from reviews.selectors.bank_facts import writes_of
from reviews.selectors.facts import FactRow, fact_row, with_news
from reviews.services import bank_facts
from reviews.services.document_facts import as_row
from reviews.views.answers import Notice
from reviews.views.facts import why_not_editable
from reviews.views.recall import query_context, query_of


@require_POST
def recall_fact_retire(request: PersonRequest, pk: int) -> HttpResponse:
    def act(fact: bank_facts.Named) -> None:
        bank_facts.retire(user=request.user, fact=fact, reason=request.POST.get("reason", ""))

    return _act(request, pk, act, "Retiring")


@require_POST
def recall_fact_restore(request: PersonRequest, pk: int) -> HttpResponse:
    def act(fact: bank_facts.Named) -> None:
        bank_facts.restore(user=request.user, fact=fact)

    return _act(request, pk, act, "Restoring")


@require_http_methods(["GET", "HEAD", "POST"])
def recall_fact_edit(request: PersonRequest, pk: int) -> HttpResponse:
    """The text as the bank has it now, not as it was recalled."""
    job, bank = query_of(request, pk, Role.REVIEWER)
    given = request.POST if request.method == "POST" else request.GET
    try:
        found = fact_row(as_row(bank_facts.read(bank, given.get("fact", ""))))
    except FactRefused as refused:
        return _answer(request, job, bank, Notice(str(refused)), status=409)
    (fact,) = with_news(bank.pk, [found], writes_of(bank))
    if request.method != "POST":
        if fact.retired or not fact.free:
            return _answer(request, job, bank, Notice(why_not_editable(fact)), status=409)
        return _form(request, job, bank, fact, fact.text)
    text = request.POST.get("text", "")
    try:
        write = bank_facts.edit(user=request.user, fact=_named(request, bank), new_text=text)
    except FactRefused as refused:
        return _form(request, job, bank, fact, text, error=str(refused), status=409)
    except NotDecided as refused:
        return _form(request, job, bank, fact, text, error=str(refused), status=422)
    said = "The text is the same as before, so nothing was sent." if write is None else "The fact gets its new text."
    messages.success(request, said)
    return SeeOther(query_context(request, job, bank)["here"])


def _act(request: PersonRequest, pk: int, act: Callable[[bank_facts.Named], None], doing: str) -> HttpResponse:
    job, bank = query_of(request, pk, Role.REVIEWER)
    try:
        act(_named(request, bank))
    except FactTaken as refused:
        return _answer(request, job, bank, Notice(str(refused)), status=409)
    except FactRefused as refused:
        return _answer(request, job, bank, Notice(str(refused)), status=422)
    return _answer(request, job, bank, Notice(f"{doing} the fact.", "none"))


def _answer(request: PersonRequest, job: Job, bank: Bank, notice: Notice, *, status: int = 200) -> HttpResponse:
    context = query_context(request, job, bank, notice=notice, selected=request.POST.get("fact", ""))
    if wants_fragment(request):
        response = render(request, "reviews/_recall_facts.html", {**context, "fragment": True}, status=status)
        response["HX-Retarget"] = "#facts-box"
        return response
    if status >= 400:
        return render(request, "reviews/recall_query.html", context, status=status)
    messages.success(request, notice.text)
    return SeeOther(context["here"])


def _named(request: PersonRequest, bank: Bank) -> bank_facts.Named:
    post = request.POST
    return bank_facts.Named(bank.pk, post.get("fact", ""), post.get("document", ""), post.get("seen", ""))


def _form(
    request: PersonRequest,
    job: Job,
    bank: Bank,
    fact: FactRow,
    text: str,
    *,
    error: str = "",
    status: int = 200,
) -> HttpResponse:
    around = query_context(request, job, bank)
    context: dict[str, Any] = {
        **around,
        "fact": fact,
        "text": text,
        "error": error,
        "diff": diff(fact.text, text) if error and text != fact.text else None,
        "back_url": around["here"],
        "document_id": fact.document_id,
    }
    return render(request, "reviews/fact_form.html", context, status=status)

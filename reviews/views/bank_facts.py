"""The facts of a bank, and acts on single ones. Ids of facts and documents travel in bodies and queries."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from banks import access
from banks.diffs import diff
from banks.models import Bank, Role
from memadmin.htmx import PersonRequest, SeeOther, wants_fragment
from reviews.errors import FactRefused, FactTaken, NotDecided
from reviews.selectors import bank_facts as listed
from reviews.selectors.bank_fact_filters import STATES, TYPES, BankFactFilters
from reviews.selectors.card import may_decide
from reviews.selectors.derived import impact_of, sources_of
from reviews.selectors.facts import FactRow, fact_row, with_news
from reviews.selectors.places import Ways
from reviews.services import bank_facts
from reviews.services.document_facts import as_row
from reviews.views.answers import Notice
from reviews.views.fact_acts import acts_in_bank
from reviews.views.facts import why_not_editable


@require_safe
def bank_fact_list(request: PersonRequest, pk: int) -> HttpResponse:
    """The page asks for its list by itself; without script a link brings both in one."""
    bank = access.get_bank(request.user, pk)
    filters = BankFactFilters.parse(request.GET)
    if not wants_fragment(request):
        return _page(request, bank, filters)
    if request.GET.get("mark", "") == listed.mark_of(bank):
        return HttpResponse(status=204)
    return render(request, "reviews/_bank_facts.html", _context(request, bank, filters))


@require_POST
def bank_fact_retire(request: PersonRequest, pk: int) -> HttpResponse:
    def act(fact: bank_facts.Named) -> None:
        bank_facts.retire(user=request.user, fact=fact, reason=request.POST.get("reason", ""))

    return _act(request, pk, act, "Retiring")


@require_POST
def bank_fact_restore(request: PersonRequest, pk: int) -> HttpResponse:
    def act(fact: bank_facts.Named) -> None:
        bank_facts.restore(user=request.user, fact=fact)

    return _act(request, pk, act, "Restoring")


def _act(request: PersonRequest, pk: int, act: Callable[[bank_facts.Named], None], doing: str) -> HttpResponse:
    bank = access.get_bank(request.user, pk, Role.REVIEWER)
    try:
        act(_named(request, bank))
    except FactTaken as refused:
        return _answer(request, bank, Notice(str(refused)), status=409)
    except FactRefused as refused:
        return _answer(request, bank, Notice(str(refused)), status=422)
    return _answer(request, bank, Notice(f"{doing} the fact.", "none"))


def _answer(request: PersonRequest, bank: Bank, notice: Notice, *, status: int = 200) -> HttpResponse:
    filters = BankFactFilters.parse(request.GET)
    if wants_fragment(request):
        context = {**_context(request, bank, filters), "fact_notice": notice, "fragment": True}
        response = render(request, "reviews/_bank_facts.html", context, status=status)
        response["HX-Retarget"] = "#facts-box"
        return response
    if status >= 400:
        return _page(request, bank, filters, notice=notice, status=status)
    messages.success(request, notice.text)
    return SeeOther(_here(bank, filters) + f"{'&' if filters.query() else '?'}now=1")


@require_http_methods(["GET", "HEAD", "POST"])
def bank_fact_edit(request: PersonRequest, pk: int) -> HttpResponse:
    bank = access.get_bank(request.user, pk, Role.REVIEWER)
    filters = BankFactFilters.parse(request.GET)
    given = request.POST if request.method == "POST" else request.GET
    try:
        found = fact_row(as_row(bank_facts.read(bank, given.get("fact", ""))))
    except FactRefused as refused:
        return _page(request, bank, filters, notice=Notice(str(refused)), status=409)
    (fact,) = with_news(bank.pk, [found], listed.writes_of(bank))
    if request.method != "POST":
        if fact.observation or fact.retired or not fact.free:
            return _page(request, bank, filters, notice=Notice(why_not_editable(fact)), status=409)
        return _form(request, bank, filters, fact, fact.text)
    text = request.POST.get("text", "")
    try:
        write = bank_facts.edit(user=request.user, fact=_named(request, bank), new_text=text)
    except FactRefused as refused:
        return _form(request, bank, filters, fact, text, error=str(refused), status=409)
    except NotDecided as refused:
        return _form(request, bank, filters, fact, text, error=str(refused), status=422)
    said = "The text is the same as before, so nothing was sent." if write is None else "The fact gets its new text."
    messages.success(request, said)
    return SeeOther(_here(bank, filters))


@require_safe
def bank_fact_impact(request: PersonRequest, pk: int) -> HttpResponse:
    """What rests on a fact: said before it is retired."""
    bank = access.get_bank(request.user, pk)
    fact_id = request.GET.get("fact", "")[:64]
    context = {"bank": bank, "fact_id": fact_id, "impact": impact_of(bank, fact_id)}
    return render(request, f"reviews/{'_fact_impact' if wants_fragment(request) else 'fact_derived'}.html", context)


@require_safe
def bank_fact_sources(request: PersonRequest, pk: int) -> HttpResponse:
    """What an observation is made from."""
    bank = access.get_bank(request.user, pk)
    fact_id = request.GET.get("fact", "")[:64]
    context = {"bank": bank, "fact_id": fact_id, "sources": sources_of(bank, fact_id)}
    return render(request, f"reviews/{'_fact_sources' if wants_fragment(request) else 'fact_derived'}.html", context)


def _named(request: PersonRequest, bank: Bank) -> bank_facts.Named:
    post = request.POST
    return bank_facts.Named(bank.pk, post.get("fact", ""), post.get("document", ""), post.get("seen", ""))


def _here(bank: Bank, filters: BankFactFilters) -> str:
    return reverse("reviews:bank-facts", args=[bank.pk]) + filters.query()


def _page(
    request: PersonRequest,
    bank: Bank,
    filters: BankFactFilters,
    *,
    notice: Notice | None = None,
    status: int = 200,
) -> HttpResponse:
    asked = "now" in request.GET or notice is not None
    context = _context(request, bank, filters) if asked else _around(request, bank, filters)
    return render(request, "reviews/bank_facts.html", {**context, "fact_notice": notice}, status=status)


def _context(request: PersonRequest, bank: Bank, filters: BankFactFilters) -> dict[str, Any]:
    if filters.why_not:
        return {**_around(request, bank, filters), "sheet": listed.BankSheet([])}
    sheet, plain = listed.page_of(bank, filters), reverse("reviews:bank-facts", args=[bank.pk])
    return {
        **_around(request, bank, filters),
        "sheet": sheet,
        "ways": Ways.around(sheet.window, filters, plain, listed.PAGE_SIZE),
        "again": f"{plain}{filters.query()}{'&' if filters.query() else '?'}now=1",
    }


def _around(request: PersonRequest, bank: Bank, filters: BankFactFilters) -> dict[str, Any]:
    role = access.role_on(request.user, bank)
    return {
        "bank": bank,
        "in_bank": True,
        "filters": filters,
        "here": _here(bank, filters),
        "facts_url": reverse("reviews:bank-facts", args=[bank.pk]),
        "without_entity": _here(bank, replace(filters, entity="", start="", after="")),
        "states": STATES,
        "types": TYPES,
        "may_decide": may_decide(role) and bank.addressable,
        "administered": role is not None and role >= Role.ADMIN,
        "acts": acts_in_bank(bank, filters.query()),
        "selected": request.POST.get("fact", ""),
    }


def _form(
    request: PersonRequest,
    bank: Bank,
    filters: BankFactFilters,
    fact: FactRow,
    text: str,
    *,
    error: str = "",
    status: int = 200,
) -> HttpResponse:
    context = {
        **_around(request, bank, filters),
        "fact": fact,
        "text": text,
        "error": error,
        "diff": diff(fact.text, text) if error and text != fact.text else None,
        "back_url": _here(bank, filters),
        "document_id": fact.document_id,
    }
    return render(request, "reviews/fact_form.html", context, status=status)

"""How a bank's facts are in all: the last report, another one on request, and the facts behind each number."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from banks import access
from banks.models import Bank, Role
from memadmin.htmx import PersonRequest, SeeOther, wants_fragment
from reviews.health import job
from reviews.selectors.bank_health import health_of
from reviews.selectors.bank_health_facts import FactFilters, facts_behind

STOP_POLLING = 286  # htmx: swap this and ask no more


@require_safe
def bank_health(request: PersonRequest, pk: int) -> HttpResponse:
    """Stored numbers alone: no page waits for a server."""
    bank = access.get_bank(request.user, pk)
    if wants_fragment(request):
        return _fragment(request, bank)
    return render(request, "reviews/bank_health.html", _context(request, bank))


@require_POST
def bank_health_start(request: PersonRequest, pk: int) -> HttpResponse:
    """Has a worker count. It reads much of the bank, so it is for those who decide there."""
    bank = access.get_bank(request.user, pk, Role.REVIEWER)
    job.start(user=request.user, bank=bank)
    if wants_fragment(request):
        return _fragment(request, bank)
    return SeeOther(reverse("reviews:bank-health", args=[pk]))


@require_safe
def bank_health_facts(request: PersonRequest, pk: int) -> HttpResponse:
    bank = access.get_bank(request.user, pk)
    found = facts_behind(bank, FactFilters.parse(request.GET))
    return render(request, "reviews/bank_health_facts.html", {**_around(request, bank), "found": found})


def _fragment(request: PersonRequest, bank: Bank) -> HttpResponse:
    """The part that polls; with its end the numbers come."""
    context = _context(request, bank)
    going_on = context["health"].under_way
    status = 200 if going_on or request.method == "POST" else STOP_POLLING
    return render(request, "reviews/_bank_health_state.html", {**context, "fragment": True}, status=status)


def _context(request: PersonRequest, bank: Bank) -> dict[str, Any]:
    return {**_around(request, bank), "health": health_of(bank)}


def _around(request: PersonRequest, bank: Bank) -> dict[str, Any]:
    role = access.role_on(request.user, bank) or Role.VIEWER
    return {"bank": bank, "administered": role >= Role.ADMIN, "may_count": role >= Role.REVIEWER and bank.addressable}

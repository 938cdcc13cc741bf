"""The entities of a bank, and one with its facts. Their ids travel in queries."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_safe

from banks import access
from banks.models import Bank, Role
from memadmin.htmx import PersonRequest, wants_fragment
from reviews.selectors import bank_entities as listed
from reviews.selectors.bank_entities import EntityFilters
from reviews.selectors.card import may_decide


@require_safe
def bank_entity_list(request: PersonRequest, pk: int) -> HttpResponse:
    """The page asks for its list by itself; without script a link brings both in one."""
    bank, filters = access.get_bank(request.user, pk), EntityFilters.parse(request.GET)
    here = _list_url(bank) + filters.query()
    context = {**_around(request, bank), "filters": filters, "here": here, "again": _now(here)}
    if _asked(request):
        sheet, plain = listed.page_of(bank, filters), _list_url(bank)
        context |= {
            "sheet": sheet,
            "earlier": plain + filters.query(page=filters.page - 1) if filters.page > 1 else "",
            "later": plain + filters.query(page=filters.page + 1) if filters.page < sheet.pages else "",
        }
    name = "_bank_entities" if wants_fragment(request) else "bank_entities"
    return render(request, f"reviews/{name}.html", context)


@require_safe
def bank_entity(request: PersonRequest, pk: int) -> HttpResponse:
    bank, entity_id = access.get_bank(request.user, pk), request.GET.get("entity", "")[:64]
    page = listed.page_number(request.GET)
    here = _url(bank, entity_id, page)
    context = {**_around(request, bank), "here": here, "again": _now(here), "page": page}
    if _asked(request):
        found = listed.entity_of(bank, entity_id, page)
        context |= {
            "found": found,
            "in_bank": True,
            "earlier": _url(bank, entity_id, page - 1) if page > 1 else "",
            "later": _url(bank, entity_id, page + 1) if page < found.pages else "",
        }
    name = "_bank_entity" if wants_fragment(request) else "bank_entity"
    return render(request, f"reviews/{name}.html", context)


def _asked(request: PersonRequest) -> bool:
    return wants_fragment(request) or "now" in request.GET


def _now(here: str) -> str:
    return f"{here}{'&' if '?' in here else '?'}now=1"


def _list_url(bank: Bank) -> str:
    return reverse("reviews:bank-entities", args=[bank.pk])


def _url(bank: Bank, entity_id: str, page: int) -> str:
    said: dict[str, str | int] = {"entity": entity_id, **({"page": page} if page > 1 else {})}
    return f"{reverse('reviews:bank-entity', args=[bank.pk])}?{urlencode(said)}"


def _around(request: PersonRequest, bank: Bank) -> dict[str, Any]:
    role = access.role_on(request.user, bank)
    return {
        "bank": bank,
        "list_url": _list_url(bank),
        "facts_url": reverse("reviews:bank-facts", args=[bank.pk]),
        "entity_url": f"{reverse('reviews:bank-entity', args=[bank.pk])}?entity=",
        "editable": may_decide(role) and bank.addressable,
        "administered": role is not None and role >= Role.ADMIN,
    }

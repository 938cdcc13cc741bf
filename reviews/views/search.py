"""Search in everything that a person may see."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from banks.services import bank_search
from memadmin.htmx import PersonRequest
from memadmin.paging import Cursor
from reviews.selectors.search_filters import BANKS, parse_search
from reviews.selectors.search_page import page_of
from reviews.views.bank_search import context_of


@require_safe
def search(request: PersonRequest) -> HttpResponse:
    user, asked = request.user, parse_search(request.GET)
    filters = asked.filters
    if any(not value for _, values in request.GET.lists() for value in values):  # a form sends its empty fields too
        return redirect(request.path + filters.query())
    context: dict[str, Any] = {"refused": asked.refused}
    if filters.kind == BANKS and filters.for_banks:
        job = bank_search.fresh(user=user, shown=filters.for_job)
        context |= context_of(request, job) if job else {"askable": len(filters.askable(user))}
    context |= page_of(user, filters, Cursor.parse(request.GET.get("page", "")))
    return render(request, "reviews/search.html", context)

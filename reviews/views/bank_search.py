"""The banks' own search: started by a post, looked at while it goes on, left or stopped at any time."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from banks import selectors
from banks.models import Job
from banks.services import bank_search
from memadmin.htmx import PersonRequest, SeeOther, wants_fragment
from reviews.selectors.bank_hits import report_of
from reviews.selectors.search_filters import BANKS, SearchFilters, parse_search
from reviews.selectors.search_page import page_of

STOP_POLLING = 286  # htmx: swap this and ask no more
SOONEST, LATEST = 1, 15  # seconds between two looks: a part of the time that one has waited


@require_POST
def search_ask(request: PersonRequest) -> HttpResponse:
    """Has a worker ask the banks. The same question within minutes is the same job, unless it is asked `again`."""
    asked = parse_search(request.POST)
    filters = asked.filters
    if not filters.for_banks:
        return SeeOther(reverse("reviews:search") + filters.of_kind(BANKS))
    job = bank_search.start(
        user=request.user,
        words=filters.q,
        banks=filters.askable(request.user),
        shown=filters.for_job,
        again=request.POST.get("again") == "1",
    )
    if wants_fragment(request):
        return _report(request, job)
    return SeeOther(reverse("reviews:search-asked", args=[job.pk]))


@require_safe
def search_asked(request: PersonRequest, pk: int) -> HttpResponse:
    job = selectors.get_job(request.user, pk, [bank_search.KIND])
    if wants_fragment(request):
        return _report(request, job)
    filters = SearchFilters(kind=BANKS, **job.params["shown"])
    return render(request, "reviews/search.html", {**page_of(request.user, filters), **context_of(request, job)})


@require_POST
def search_stop(request: PersonRequest, pk: int) -> HttpResponse:
    job = selectors.get_job(request.user, pk, [bank_search.KIND])
    if bank_search.stop(user=request.user, job=job):
        messages.success(request, "No more banks are asked. What was found until then stays for an hour.")
    return SeeOther(reverse("reviews:search-asked", args=[pk]))


def context_of(request: HttpRequest, job: Job) -> dict[str, Any]:
    given = request.GET.get("after", "")
    after = int(given) if given.isascii() and given.isdigit() and len(given) < 9 else 0
    waited = (timezone.now() - job.created).total_seconds()
    return {
        "job": job,
        "report": report_of(request.user, job, after),
        "facts_query": SearchFilters(q=job.params["words"], kind="facts").query(),
        "again": job.params["shown"],
        "after": after,
        "delay": min(max(int(waited / 5), SOONEST), LATEST),
    }


def _report(request: PersonRequest, job: Job) -> HttpResponse:
    status = STOP_POLLING if job.ended else 200
    return render(request, "reviews/_search_banks.html", context_of(request, job), status=status)

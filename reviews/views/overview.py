from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from banks.selectors import writable_banks
from memadmin.htmx import PersonRequest
from reviews.selectors.overview import overview as what_is_up


@require_safe
def overview(request: PersonRequest) -> HttpResponse:
    context = {"overview": what_is_up(request.user), "may_write": writable_banks(request.user)}
    return render(request, "reviews/overview.html", context)

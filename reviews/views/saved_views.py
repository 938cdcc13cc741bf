from django.contrib import messages
from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.http import require_POST

from memadmin.htmx import PersonRequest, SeeOther
from reviews.errors import NotDecided
from reviews.selectors.filters import Filters
from reviews.services import saved_views


@require_POST
def view_save(request: PersonRequest) -> HttpResponse:
    query = Filters.parse(request.GET).query()
    try:
        view = saved_views.save(user=request.user, name=request.POST.get("name", ""), query=query)
        messages.success(request, f"Saved as “{view.name}”, beside the lists.")
    except NotDecided as refused:
        messages.warning(request, str(refused))
    return SeeOther(reverse("reviews:entry-list") + query)


@require_POST
def view_remove(request: PersonRequest, pk: int) -> HttpResponse:
    name = saved_views.remove(user=request.user, view_id=pk)
    messages.success(request, f"“{name}” is removed. No memory was touched." if name else "It was removed already.")
    return SeeOther(reverse("reviews:entry-list") + Filters.parse(request.GET).query())

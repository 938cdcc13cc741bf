"""The product's pages, the floor of a decision, and Django's admin over the same table."""

from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.urls import include, path
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from banks.services.tokens import caller_of
from memadmin.urls import *  # noqa: F403
from memadmin.urls import urlpatterns as ours
from reviews.models import ReviewEntry
from tests.bench.inside import browser


class EntryAdmin(admin.ModelAdmin):
    """What our queue shows: the same columns, page size, order, search and filters."""

    list_display = ("preview", "document_id", "bank", "marks", "fact_count", "state", "expires_at", "enqueued_at")
    list_filter = ("state", "bank", "project", "reason")
    list_select_related = ("bank", "lease_user")
    list_per_page = 25
    search_fields = ("document_id", "preview")
    ordering = ("expires_at", "pk")


site = admin.AdminSite(name="admin")
site.register(ReviewEntry, EntryAdmin)


@require_POST
def one_update(request: HttpRequest, pk: int) -> HttpResponse:
    """The least a decision can be: a signed-in person, and one conditional update."""
    taken = ReviewEntry.objects.filter(pk=pk, state="pending").update(state="approved", version=F("version") + 1)
    return HttpResponse(status=204 if taken else 409)


@csrf_exempt
@login_not_required
def nothing_for_a_token(request: HttpRequest) -> HttpResponse:
    """The least an endpoint can be: whose token it is, and no more."""
    person = caller_of(request.headers["Authorization"].removeprefix("Bearer "))
    return HttpResponse(status=401 if person is None else 204)


urlpatterns = [
    path("floor/retain/", nothing_for_a_token),
    path("floor/admin/", site.urls),
    path("floor/swap/", browser.page),
    path("floor/card/", browser.card),
    path("floor/<int:pk>/approve/", one_update),
    path("", include(ours)),
]

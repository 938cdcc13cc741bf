from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from memadmin.counting import count_of
from memadmin.htmx import PersonRequest
from memadmin.paging import Cursor
from reviews.access import get_entry
from reviews.selectors import card, queue
from reviews.selectors.filters import AGES, ORDERS, STATES, Filters
from reviews.views.answers import card_url


@require_safe
def entry_list(request: PersonRequest) -> HttpResponse:
    user = request.user
    filters = Filters.parse(request.GET)
    page = queue.entry_page(user, filters, Cursor.parse(request.GET.get("page", "")))
    context = {
        "filters": filters,
        "page": page,
        "rows": [(entry, card.lease_of_another(entry, user)) for entry in page.rows],
        "found": count_of(queue.entries(user, filters)),
        "tabs": queue.tabs(user, filters),
        "today": queue.today(user),
        "last_act": card.last_act(user),
    }
    if not page.rows and not filters.narrow:
        return render(request, "reviews/entry_done.html", context)
    context |= {"options": queue.options(user), "states": STATES, "ages": AGES, "orders": ORDERS}
    return render(request, "reviews/entry_list.html", context)


@require_safe
def entry_next(request: PersonRequest) -> HttpResponse:
    """The first memory of the list, for "start reviewing"."""
    filters = Filters.parse(request.GET).undecided
    first = queue.first(request.user, filters)
    return redirect(card_url(first, filters) if first else reverse("reviews:entry-list") + filters.query())


@require_safe
def entry_skip(request: PersonRequest, pk: int) -> HttpResponse:
    """Goes on without a decision; at the end of the list it begins again with what was left."""
    filters = Filters.parse(request.GET).undecided
    following = queue.next_after(request.user, filters, get_entry(request.user, pk))
    return redirect(card_url(following, filters) if following else reverse("reviews:entry-list") + filters.query())

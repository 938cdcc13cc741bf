from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_safe

from memadmin.accounts.models import User
from memadmin.counting import Count, count_of
from memadmin.htmx import PersonRequest
from memadmin.paging import Cursor
from reviews.access import get_entry
from reviews.selectors import queue
from reviews.selectors.changes import Changes, Mark, listed
from reviews.selectors.filters import AGES, ORDERS, STATES, Filters
from reviews.views.answers import card_url


@require_safe
def entry_list(request: PersonRequest) -> HttpResponse:
    user, filters = request.user, Filters.parse(request.GET)
    mark = Mark.now()  # before the rows: what arrives in between is announced, not lost
    page = queue.entry_page(user, filters, Cursor.parse(request.GET.get("page", "")))
    tabs = queue.tabs(user, filters)
    context = {
        "filters": filters,
        "page": page,
        "changes": Changes(listed(user, page.rows), mark),
        "found": _found(user, filters, tabs),
        "tabs": tabs,
        "today": queue.today(user),
    }
    if not page.rows and not filters.narrow:
        return render(request, "reviews/entry_done.html", context)
    context |= {"options": queue.options(user), "states": STATES, "ages": AGES, "orders": ORDERS}
    return render(request, "reviews/entry_list.html", context)


def _found(user: User, filters: Filters, tabs: list[queue.Tab]) -> Count:
    """How many the list finds. A tab that asks the same has counted them already: two counts could differ."""
    same = [tab.count for tab in tabs if tab.query == filters.query() and tab.count is not None]
    return same[0] if same else count_of(queue.entries(user, filters))


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

from dataclasses import replace

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import require_safe

from banks.selectors import get_job
from memadmin.accounts.models import User
from memadmin.counting import Count, count_of
from memadmin.filtering import number_of
from memadmin.htmx import PersonRequest
from memadmin.paging import Cursor, Page
from reviews.models import ReviewEntry
from reviews.selectors import bulk, queue, saved_views
from reviews.selectors.changes import Changes, Mark, listed
from reviews.selectors.filters import AGES, ORDERS, STATES, UNDECIDED, Filters
from reviews.views.answers import card_url


@gzip_page  # its first load is to be small, also without a proxy that does this
@require_safe
def entry_list(request: PersonRequest) -> HttpResponse:
    user, filters = request.user, Filters.parse(request.GET)
    mark = Mark.now()  # before the rows: what arrives in between is announced, not lost
    refused = _refused(request)
    page = _page(request, filters) if refused is None else Page([entry for entry, _ in refused], "", "")
    rows = listed(user, page.rows)
    if refused is not None:
        rows = [replace(row, error=why) for row, (_, why) in zip(rows, refused, strict=True)]
    tabs = queue.tabs(user, filters)
    context = {
        "filters": filters,
        "page": page,
        "changes": Changes(rows, mark),
        "found": _found(user, filters, tabs) if refused is None else Count(len(rows)),
        "refused": refused is not None,
        "running": bulk.running_of(user),
        "views": saved_views.of(user),
        "pickable": filters.state in UNDECIDED and any(row.pick for row in rows),
        "tabs": tabs,
        "today": queue.today(user),
    }
    if not page.rows and not filters.narrow and refused is None:
        return render(request, "reviews/entry_done.html", context)
    context |= {"options": queue.options(user), "states": STATES, "ages": AGES, "orders": ORDERS}
    return render(request, "reviews/entry_list.html", context)


def _page(request: PersonRequest, filters: Filters) -> Page[ReviewEntry]:
    return queue.entry_page(request.user, filters, Cursor.parse(request.GET.get("page", "")))


def _refused(request: PersonRequest) -> list[tuple[ReviewEntry, str]] | None:
    """What a bulk act did not decide on, on one page and selected still; None where that is not asked for."""
    pk = number_of(request.GET.get("refused", ""))
    return bulk.still_selected(request.user, get_job(request.user, pk, bulk.KINDS)) if pk else None


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

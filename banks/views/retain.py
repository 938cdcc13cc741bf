"""The retain queue: memories on their way into banks."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from banks import access, hooks
from banks.models import RetainItem, Role
from banks.paper import paper
from banks.retain import discarding, selectors
from banks.selectors import writable_banks
from banks.troubles import of_bank
from memadmin.filtering import number_of
from memadmin.htmx import PersonRequest, SeeOther
from memadmin.paging import Cursor
from memadmin.retention import RetainedItems, RetainedText, first_of, head_of

VALUE_SHOWN = 500  # bytes of one parameter
TOO_LATE = "Nothing was changed. It is on its way, or has ended."


@require_safe
def item_list(request: PersonRequest) -> HttpResponse:
    view = request.GET.get("view", "")
    if view not in selectors.VIEWS:
        raise Http404("There is no such view.")
    page = selectors.item_page(request.user, view, Cursor.parse(request.GET.get("page", "")))
    context = {
        "view": view,
        "views": selectors.views_of(request.user),
        "page": page,
        "query": f"?view={view}" if view else "",
        "may_write": writable_banks(request.user),
    }
    return render(request, "banks/retain_list.html", context)


@require_safe
def item_detail(request: PersonRequest, pk: int) -> HttpResponse:
    item = selectors.get_item(request.user, pk)
    part = number_of(request.GET.get("full", ""), digits=5)
    text = "" if item.content.erased else item.content.text
    role = access.role_on(request.user, item.bank)
    context = {
        "item": item,
        "paper": paper(text, part),
        "part_url": f"{request.path}?full=",
        "params": _params(item),
        "review_url": hooks.review_of(item) if item.held else "",
        "entry_url": hooks.page_of(item.bank, item.document_hash),
        "troubles": of_bank(item.bank, fix=request.user.is_superuser) if item.state in _OPEN else [],
        "may_discard": item.state == RetainItem.State.QUEUED and selectors.may_discard(request.user, item),
        "may_write": {item.bank_id} if role is not None and role >= Role.REVIEWER else set(),
    }
    return render(request, "banks/retain_detail.html", context)


@require_POST
def item_discard(request: PersonRequest, pk: int) -> HttpResponse:
    item = selectors.get_item(request.user, pk)
    if discarding.discard(user=request.user, item=item):
        messages.success(request, "Discarded: it is not sent. Its text stays here.")
    else:
        messages.warning(request, TOO_LATE)
    return SeeOther(reverse("banks:retain-detail", args=[pk]))


_OPEN = (RetainItem.State.QUEUED, RetainItem.State.SENT, RetainItem.State.ATTENTION)
_NAMES = (
    *("update_mode", "timestamp", "context", "tags", "document_tags", "metadata", "entities", "resolve_entities"),
    *("observation_scopes", "strategy", "project", "operation_id"),
)


def _params(item: RetainItem) -> RetainedItems[tuple[str, RetainedText]]:
    """What is sent beside the text, as far as anything is."""
    given: list[tuple[str, Any]] = [(name, getattr(item, name)) for name in _NAMES]
    there = ((name, value) for name, value in given if value not in (None, "", [], {}))
    return first_of(((name, head_of(str(value), VALUE_SHOWN)) for name, value in there), len(_NAMES))

"""The archive of retired facts: look, search, bring back one, some, or all that match."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from banks import selectors
from banks.access import banks_for
from banks.models import Role
from memadmin.htmx import PersonRequest, SeeOther, wants_fragment
from memadmin.paging import Cursor
from reviews.curation import archive, elsewhere
from reviews.errors import NotDecided
from reviews.models import FactDecision
from reviews.selectors import retired
from reviews.selectors.retired import RetiredFilters

STOP_POLLING = 286  # htmx: swap this and ask no more


@require_safe
def retired_list(request: PersonRequest) -> HttpResponse:
    user, filters = request.user, RetiredFilters.parse(request.GET)
    page = retired.retired_page(user, filters, Cursor.parse(request.GET.get("page", "")))
    context = {
        "filters": filters,
        "page": page,
        "rows": retired.with_news(page.rows),
        "found": retired.retired_count(user, filters),
        "told": retired.told_by_servers(user),
        "people": retired.people_of(user),
        "banks": selectors.banks_seen_by(user),
        "origins": FactDecision.Origin.choices,
        "may_restore": selectors.writable_banks(user),
        "looks": elsewhere.looks_of(user),
    }
    return render(request, "reviews/retired_list.html", context)


@require_POST
def retired_restore(request: PersonRequest, pk: int) -> HttpResponse:
    filters = RetiredFilters.parse(request.GET)
    try:
        write = archive.restore_one(user=request.user, decision_id=pk)
        messages.success(request, f"Restoring it. Row {write.pk} of the log says how it ends.")
    except NotDecided as refused:
        messages.warning(request, f"{refused} Nothing was sent.")
    return SeeOther(reverse("reviews:retired-list") + filters.query())


@require_POST
def retired_restore_picked(request: PersonRequest) -> HttpResponse:
    filters = RetiredFilters.parse(request.GET)
    given = request.POST.getlist("pick")[: archive.MOST_PICKED]
    picks = [int(text) for text in given if text.isascii() and text.isdigit() and len(text) < 18]
    try:
        job = archive.start_restore(user=request.user, picks=picks)
    except NotDecided as refused:
        messages.warning(request, str(refused))
        return SeeOther(reverse("reviews:retired-list") + filters.query())
    return SeeOther(reverse("reviews:retired-job", args=[job.pk]))


@require_http_methods(["GET", "HEAD", "POST"])
def retired_restore_all(request: PersonRequest) -> HttpResponse:
    """All that match: counted exactly and confirmed first. Another number than the one on screen asks again."""
    user, filters = request.user, RetiredFilters.parse(request.GET)
    rows = retired.retired_seen_by(user, filters, Role.REVIEWER)
    total = rows.count()
    context = {
        "filters": filters,
        "asked": filters.said(selectors.banks_seen_by(user), retired.people_of(user)),
        "total": total,
        "others": retired.retired_seen_by(user, filters).count() - total,
        "banks": banks_for(user, Role.REVIEWER).filter(pk__in=rows.order_by().values("bank")).count(),
        "moved": False,
    }
    if request.method != "POST":
        return render(request, "reviews/retired_confirm.html", context)
    if request.POST.get("total") != str(total):
        return render(request, "reviews/retired_confirm.html", {**context, "moved": True}, status=409)
    try:
        job = archive.start_restore(user=user, filters=filters)
    except NotDecided as refused:
        messages.warning(request, str(refused))
        return SeeOther(reverse("reviews:retired-list") + filters.query())
    return SeeOther(reverse("reviews:retired-job", args=[job.pk]))


@require_safe
def retired_job(request: PersonRequest, pk: int) -> HttpResponse:
    job = retired.get_job(request.user, pk)
    progress = retired.progress_of(job)
    after = request.GET.get("after", "")
    items, more = retired.items_of(job, int(after) if after.isascii() and after.isdigit() and len(after) < 18 else 0)
    over = job.ended and not progress.waiting
    context: dict[str, Any] = {
        "job": job,
        "progress": progress,
        "items": items,
        "more": more,
        "skipped": retired.skipped_of(job),
        "left_out": job.items.count(),
        "over": over,
        "undo": retired.may_undo(job),
        "undoing": job.kind == archive.RETIRE,
    }
    if wants_fragment(request):
        status = STOP_POLLING if over else 200
        return render(request, "reviews/_retired_progress.html", context, status=status)
    return render(request, "reviews/retired_job.html", context)


@require_POST
def retired_undo(request: PersonRequest, pk: int) -> HttpResponse:
    job = retired.get_job(request.user, pk)
    try:
        undo = archive.start_undo(user=request.user, job=job)
    except NotDecided as refused:
        messages.warning(request, str(refused))
        return SeeOther(reverse("reviews:retired-job", args=[pk]))
    return SeeOther(reverse("reviews:retired-job", args=[undo.pk]))


@require_POST
def retired_look(request: PersonRequest, pk: int) -> HttpResponse:
    """Asks a bank's server for retirements that were made elsewhere."""
    elsewhere.ask(user=request.user, bank_id=pk)
    messages.success(request, "The bank is being asked for facts that were retired elsewhere.")
    return SeeOther(reverse("reviews:retired-list") + RetiredFilters(bank=str(pk)).query())

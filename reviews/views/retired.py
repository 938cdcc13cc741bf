"""The archive of retired facts: look, search, bring back one, some, or all that match; answer what is asked."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from banks import selectors
from banks.access import banks_for
from banks.models import Bank, Job, Role
from memadmin import exporting
from memadmin.counting import Count
from memadmin.htmx import PersonRequest, SeeOther, wants_fragment
from memadmin.paging import Cursor, Page
from reviews.curation import archive, elsewhere
from reviews.errors import NotDecided
from reviews.models import FactDecision
from reviews.selectors import retired, retired_export, retired_jobs
from reviews.selectors.retired_filters import ORDERS, VIAS, RetiredFilters

STOP_POLLING = 286  # htmx: swap this and ask no more


@require_safe
def retired_list(request: PersonRequest) -> HttpResponse:
    user, filters = request.user, RetiredFilters.parse(request.GET)
    cursor = Cursor.parse(request.GET.get("page", ""))
    context: dict[str, Any] = {"filters": filters, "tabs": retired.tabs(user, filters)}
    if filters.tab == "questions":
        context["rows"], context["page"] = retired.question_page(user, filters, cursor)
    else:
        refused = _refused(request)
        page = refused or retired.retired_page(user, filters, cursor)
        found = Count(len(page.rows)) if refused else retired.retired_count(user, filters)
        context |= {"page": page, "rows": retired.with_news(page.rows), "found": found}
    context |= {
        "told": retired.told_by_servers(user),
        "people": retired.people_of(user),
        "banks": selectors.banks_seen_by(user),
        "origins": FactDecision.Origin.choices,
        "vias": VIAS,
        "orders": ORDERS,
        "may_restore": selectors.writable_banks(user),
        "looks": elsewhere.looks_of(user),
        "running": retired_jobs.running_of(user),
        "picked": bool(request.GET.get("refused")),
    }
    return render(request, "reviews/retired_list.html", context)


def _refused(request: PersonRequest) -> Page[FactDecision] | None:
    """What a bulk restore was refused, on one page and selected still."""
    given = request.GET.get("refused", "")
    if not (given.isascii() and given.isdigit() and len(given) < 18):
        return None
    job = selectors.get_job(request.user, int(given), retired_jobs.KINDS)
    return Page(retired_jobs.refused_by(request.user, job), "", "")


def _back(request: PersonRequest) -> SeeOther:
    return SeeOther(reverse("reviews:retired-list") + RetiredFilters.parse(request.GET).query())


def _to_job(job: Job) -> SeeOther:
    return SeeOther(reverse("reviews:retired-job", args=[job.pk]))


@require_safe
def retired_export_file(request: PersonRequest) -> HttpResponseBase:
    """All that match, of the list that is asked for, as `?as=csv` or JSON lines."""
    as_ = "csv" if request.GET.get("as") == "csv" else "jsonl"
    rows = retired.retired_seen_by(request.user, RetiredFilters.parse(request.GET))
    return exporting.download("retired-facts", retired_export.FIELDS, retired_export.rows(rows), as_=as_)


@require_POST
def retired_restore(request: PersonRequest, pk: int) -> HttpResponse:
    try:
        write = archive.restore_one(user=request.user, decision_id=pk)
        messages.success(request, f"Restoring it. Row {write.pk} of the log says how it ends.")
    except NotDecided as refused:
        messages.warning(request, f"{refused} Nothing was sent.")
    return _back(request)


@require_POST
def retired_let_go(request: PersonRequest, pk: int) -> HttpResponse:
    try:
        archive.let_go(user=request.user, decision_id=pk)
        messages.success(request, "It is let go: should the fact come back, it is not retired again.")
    except NotDecided as refused:
        messages.warning(request, str(refused))
    return _back(request)


@require_POST
def retired_restore_picked(request: PersonRequest) -> HttpResponse:
    given = request.POST.getlist("pick")[: archive.MOST_PICKED]
    picks = [int(text) for text in given if text.isascii() and text.isdigit() and len(text) < 18]
    try:
        job = archive.start_restore(user=request.user, picks=picks)
    except NotDecided as refused:
        messages.warning(request, str(refused))
        return _back(request)
    return _to_job(job)


@require_http_methods(["GET", "HEAD", "POST"])
def retired_restore_all(request: PersonRequest) -> HttpResponse:
    """All that match: counted exactly and confirmed first. Another number than the one on screen asks again."""
    user, filters = request.user, RetiredFilters.parse(request.GET)
    if not filters.can_be_restored:
        return _back(request)
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
        return _to_job(archive.start_restore(user=user, filters=filters))
    except NotDecided as refused:
        messages.warning(request, str(refused))
        return _back(request)


@require_safe
def retired_job(request: PersonRequest, pk: int) -> HttpResponse:
    job = selectors.get_job(request.user, pk, retired_jobs.KINDS)
    progress = retired_jobs.progress_of(job)
    after = request.GET.get("after", "")
    items, more = retired_jobs.items_of(
        job, int(after) if after.isascii() and after.isdigit() and len(after) < 18 else 0
    )
    over = job.ended and not progress.waiting
    context: dict[str, Any] = {
        "job": job,
        "progress": progress,
        "items": items,
        "more": more,
        "skipped": retired_jobs.skipped_of(job),
        "left_out": job.items.count(),
        "over": over,
        "told": retired.told_by_servers(request.user, retired_jobs.banks_of(job)) if over else None,
        "undo": retired_jobs.may_undo(job),
        "undoing": job.kind == archive.RETIRE,
    }
    if wants_fragment(request):
        status = STOP_POLLING if over else 200
        return render(request, "reviews/_retired_progress.html", context, status=status)
    return render(request, "reviews/retired_job.html", context)


@require_POST
def retired_stop(request: PersonRequest, pk: int) -> HttpResponse:
    job = selectors.get_job(request.user, pk, retired_jobs.KINDS)
    stopped = archive.stop(user=request.user, job=job)
    messages.success(request, f"Stopped. {stopped:,} that had not been sent stay as they were.")
    return _to_job(job)


@require_POST
def retired_undo(request: PersonRequest, pk: int) -> HttpResponse:
    job = selectors.get_job(request.user, pk, retired_jobs.KINDS)
    try:
        return _to_job(archive.start_undo(user=request.user, job=job))
    except NotDecided as refused:
        messages.warning(request, str(refused))
        return _to_job(job)


@require_POST
def retired_look(request: PersonRequest, pk: int) -> HttpResponse:
    """Asks a bank's server for retirements that were made elsewhere."""
    elsewhere.ask(user=request.user, bank_id=pk)
    messages.success(request, f"{Bank.objects.get(pk=pk)} is being asked for facts that were retired elsewhere.")
    return SeeOther(reverse("reviews:retired-list") + RetiredFilters(bank=str(pk)).query())

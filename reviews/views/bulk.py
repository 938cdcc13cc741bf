"""One verdict on many memories: picked from a list, or all that match. Counted exactly and confirmed first."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from banks import jobs, selectors
from banks.models import Job
from memadmin.htmx import PersonRequest, SeeOther, wants_fragment
from reviews.bulk import deciding, scope, undoing
from reviews.errors import NotDecided
from reviews.selectors import bulk
from reviews.selectors.filters import Filters

STOP_POLLING = 286  # htmx: swap this and ask no more
HERE = 100  # so many are decided in the request itself: it takes less time than a worker's answer
PAST = {scope.APPROVE: "Approved", scope.DELETE: "Deleted"}


def job_url(job: Job) -> str:
    return reverse("reviews:bulk-job" if job.kind in bulk.KINDS else "reviews:retired-job", args=[job.pk])


@require_http_methods(["GET", "HEAD", "POST"])
def bulk_approve(request: PersonRequest) -> HttpResponse:
    return _decide(request, scope.APPROVE)


@require_http_methods(["GET", "HEAD", "POST"])
def bulk_delete(request: PersonRequest) -> HttpResponse:
    return _decide(request, scope.DELETE)


def _decide(request: PersonRequest, verdict: str) -> HttpResponse:
    """A post with the number that is decided on begins; with another number, or none, that is asked first."""
    user, filters = request.user, Filters.parse(request.GET)
    picked = scope.parsed(request.POST.getlist("pick"))[: scope.MOST_PICKED]
    wanted = "pick" in request.POST or "picked" in request.POST
    if wanted and not picked:
        messages.warning(request, "Nothing is selected, so nothing was decided.")
        return SeeOther(reverse("reviews:entry-list") + filters.query())
    found = scope.sort_picked(user, picked, verdict) if wanted else scope.sort_matching(user, filters, verdict)
    said = request.POST.get("total", "")
    if request.method == "POST" and said == str(found.total) and found.total:
        return _begin(request, filters, verdict, found)
    context = {
        "filters": filters,
        "verdict": verdict,
        "found": found,
        "picked": picked if wanted else None,
        "asked": [] if wanted else filters.said(user),
        "moved": bool(said),
        "most": scope.MOST,
    }
    return render(request, "reviews/bulk_confirm.html", context, status=409 if said else 200)


def _begin(request: PersonRequest, filters: Filters, verdict: str, found: scope.Sorted) -> HttpResponse:
    here = found.total <= HERE
    job = deciding.start(user=request.user, verdict=verdict, picks=found.picks, here=here)
    if not here:
        return SeeOther(job_url(job))
    jobs.run(job.pk)
    progress = bulk.progress_of(job)
    said = f"{PAST[verdict]} {progress.decided:,}."
    if found.left_out:
        said += f" {found.left_out:,} left out."
    if not progress.refused:
        messages.success(request, said)
        return SeeOther(reverse("reviews:entry-list") + filters.query())
    messages.warning(request, f"{said} {progress.refused:,} refused: they are selected still, each with its reason.")
    return SeeOther(f"{reverse('reviews:entry-list')}?refused={job.pk}")


@require_safe
def bulk_job(request: PersonRequest, pk: int) -> HttpResponse:
    job = selectors.get_job(request.user, pk, bulk.KINDS)
    progress = bulk.progress_of(job)
    over = bulk.is_over(job, progress)
    context: dict[str, Any] = {
        "job": job,
        "progress": progress,
        "over": over,
        "send_at": bulk.send_at(job),
        "refused": bulk.refused_of(request.user, job),
        "undo": bulk.may_undo(job),
        "undoing": job.kind == undoing.KIND,
    }
    if wants_fragment(request):
        return render(request, "reviews/_bulk_progress.html", context, status=STOP_POLLING if over else 200)
    return render(request, "reviews/bulk_job.html", context)


@require_POST
def bulk_stop(request: PersonRequest, pk: int) -> HttpResponse:
    job = selectors.get_job(request.user, pk, bulk.KINDS)
    deciding.stop(user=request.user, job=job)
    messages.success(request, "Stopped. What was not decided on yet stays as it was.")
    return SeeOther(job_url(job))


@require_POST
def bulk_undo(request: PersonRequest, pk: int) -> HttpResponse:
    job = selectors.get_job(request.user, pk, bulk.KINDS)
    if job.kind != deciding.KIND:
        return SeeOther(job_url(job))
    try:
        return SeeOther(job_url(undoing.start(user=request.user, job=job)))
    except NotDecided as refused:
        messages.warning(request, str(refused))
        return SeeOther(job_url(job))

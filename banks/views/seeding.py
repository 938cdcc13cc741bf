"""Seeding: which banks and seeds, a preview that only reads, and then making exactly what it said."""

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from banks import access, selectors, selectors_seeding
from banks.forms_seeds import SeedingForm
from banks.models import Job, Role
from banks.seeds import job as seeding
from memadmin.filtering import number_of
from memadmin.htmx import PersonRequest, SeeOther, posted, wants_fragment

STOP_POLLING = 286  # htmx: swap this and ask no more


@require_http_methods(["GET", "HEAD", "POST"])
def seeding_new(request: PersonRequest) -> HttpResponse:
    """The form; sent, it starts a preview. Nothing is made from here."""
    if not access.banks_for(request.user, Role.ADMIN).exists():
        raise PermissionDenied if access.banks_for(request.user).exists() else Http404
    asked = number_of(request.GET.get("bank", ""))
    initial = {"banks": [str(asked)]} if asked else None
    form = SeedingForm(posted(request), initial=initial, user=request.user)
    if request.method != "POST" or not form.is_valid():
        return render(request, "banks/seeding_form.html", {"form": form}, status=422 if form.errors else 200)
    job = seeding.preview(user=request.user, asked=form.asked)
    return SeeOther(reverse("banks:seeding-detail", args=[job.pk]))


@require_safe
def seeding_detail(request: PersonRequest, pk: int) -> HttpResponse:
    job = selectors.get_job(request.user, pk, [seeding.KIND])
    told = selectors_seeding.told_of(request.user, job)
    context = {"job": job, "told": told, "preview": bool(job.params.get("preview"))}
    if wants_fragment(request):
        status = STOP_POLLING if told.over else 200
        return render(request, "banks/_seeding.html", context, status=status)
    return render(request, "banks/seeding_detail.html", context)


@require_POST
def seeding_create(request: PersonRequest, pk: int) -> HttpResponse:
    """Makes what this preview said would be made. Rights are asked anew, bank by bank, by the job."""
    job = selectors.get_job(request.user, pk, [seeding.KIND])
    if job.owner_id != request.user.pk or not job.params.get("preview") or job.state != Job.State.DONE:
        raise Http404("No such preview.")
    if not access.banks_for(request.user, Role.ADMIN).filter(pk__in=job.params["banks"]).exists():
        raise PermissionDenied
    made = seeding.follow(user=request.user, previewed=job)
    return SeeOther(reverse("banks:seeding-detail", args=[made.pk]))

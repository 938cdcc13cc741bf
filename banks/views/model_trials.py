"""What a refresh of a mental model would write: asked by a worker, polled by the page, written nowhere."""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from banks import access, selectors
from banks.diffs import diff
from banks.mental import trials
from banks.models import Job, Role
from banks.views.models import address_of, named
from memadmin.htmx import PersonRequest, SeeOther, wants_fragment

STOP_POLLING = 286  # htmx: swap this and ask no more


@require_POST
def model_try(request: PersonRequest, pk: int) -> HttpResponse:
    bank = access.get_bank(request.user, pk, Role.REVIEWER)
    job = trials.start(user=request.user, bank=bank, model_id=named(request))
    return SeeOther(reverse("banks:model-trial", args=[job.pk]))


@require_safe
def model_trial(request: PersonRequest, pk: int) -> HttpResponse:
    job = selectors.get_job(request.user, pk, [trials.KIND])
    bank = access.get_bank(request.user, job.params["bank"])
    told = trials.result_of(job) if job.state == Job.State.DONE else None
    context = {
        "job": job,
        "bank": bank,
        "model_id": job.params["model"],
        "model_url": address_of("bank-model-detail", bank, job.params["model"]),
        "told": told,
        "diff": diff(told.before.rstrip("\n"), told.after.rstrip("\n")) if told else None,
    }
    if wants_fragment(request):
        return render(request, "banks/_model_trial.html", context, status=STOP_POLLING if job.ended else 200)
    return render(request, "banks/model_trial.html", context)

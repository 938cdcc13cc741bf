"""A question that the bank's language model answers: slow, at a cost, and with what the answer rests on."""

from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from banks import access, selectors
from banks.models import Role
from banks.paper import paper
from banks.recall import reflecting, works
from banks.recall.asked import Asked
from memadmin.htmx import PersonRequest, SeeOther, posted, wants_fragment
from reviews.forms_recall import ReflectForm
from reviews.views.recall import STOP_POLLING, around


@require_http_methods(["GET", "HEAD", "POST"])
def bank_reflect(request: PersonRequest, pk: int) -> HttpResponse:
    bank = access.get_bank(request.user, pk, Role.REVIEWER)
    form = ReflectForm(posted(request))
    if request.method == "POST" and form.is_valid():
        job = reflecting.start(user=request.user, bank=bank, asked=form.asked())
        return SeeOther(reverse("reviews:recall-reflection", args=[job.pk]))
    context = {**around(request, bank), "form": form, "most_seconds": int(reflecting.READ_TIMEOUT)}
    return render(request, "reviews/recall_reflect.html", context, status=422 if form.errors else 200)


@require_safe
def recall_reflection(request: PersonRequest, pk: int) -> HttpResponse:
    job = selectors.get_job(request.user, pk, [reflecting.KIND])
    bank = access.get_bank(request.user, job.params["bank"])
    told = works.result_of(job)
    context: dict[str, Any] = {
        **around(request, bank),
        "job": job,
        "asked": Asked.parse(job.params["asked"]),
        "told": told,
        "paper": paper(told["text"], 1) if told else None,
        "most_seconds": int(reflecting.READ_TIMEOUT),
    }
    if wants_fragment(request):
        status = STOP_POLLING if job.ended else 200
        return render(request, "reviews/_recall_reflection.html", context, status=status)
    return render(request, "reviews/recall_reflection.html", context)

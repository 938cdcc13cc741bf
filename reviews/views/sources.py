"""Where memories come from, and the choice to review what a bank held before."""

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from banks import access
from banks.models import Role
from memadmin.htmx import PersonRequest, SeeOther, wants_fragment
from reviews.selectors import sources
from reviews.services import look_back

SPANS = {"1": "the last day", "7": "the last 7 days", "30": "the last 30 days", "90": "the last 90 days", "all": "all"}
STOP_POLLING = 286  # htmx: swap this and ask no more


class LookBackForm(forms.Form):
    span = forms.ChoiceField(choices=list(SPANS.items()))


@require_safe
def source_list(request: PersonRequest) -> HttpResponse:
    found = sources.bank_sources(request.user)
    running = any(source.job and not source.job.ended for source in found)
    context = {"sources": found, "running": running, "spans": SPANS, "fragment": wants_fragment(request)}
    if wants_fragment(request):
        return render(request, "reviews/_source_banks.html", context, status=200 if running else STOP_POLLING)
    context["files"] = sources.watched_files(request.user)
    return render(request, "reviews/source_list.html", context)


@require_POST
def source_look_back(request: PersonRequest, pk: int) -> HttpResponse:
    access.get_bank(request.user, pk, Role.ADMIN)
    form = LookBackForm(request.POST)
    if not form.is_valid():
        messages.warning(request, "Nothing was started: choose how far back to look.")
        return SeeOther(reverse("reviews:source-list"))
    span = form.cleaned_data["span"]
    look_back.start(user=request.user, bank_id=pk, days=None if span == "all" else int(span))
    messages.success(request, "Looking back. What is found appears in the queue; you may leave this page.")
    return SeeOther(reverse("reviews:source-list"))

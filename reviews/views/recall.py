"""The recall desk of a bank: a query is asked by a worker, and its page shows what came and what agents make of it."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from banks import access, selectors
from banks.models import Bank, Job, Role
from banks.recall import recalling, saving
from banks.recall.asked import Asked
from banks.recall.selectors import asked_of, checks_of, get_check
from banks.services.refusal import Refusal
from memadmin.filtering import number_of
from memadmin.htmx import PersonRequest, SeeOther, posted, wants_fragment
from reviews.forms_recall import CheckForm, RecallForm, initial_of
from reviews.selectors.recall_desk import answer_of, sheet_of
from reviews.views.answers import Notice
from reviews.views.fact_acts import acts_on_desk

STOP_POLLING = 286  # htmx: swap this and ask no more


@require_http_methods(["GET", "HEAD", "POST"])
def bank_recall(request: PersonRequest, pk: int) -> HttpResponse:
    """Asking is for reviewers; everybody who sees the bank sees its saved queries."""
    bank = access.get_bank(request.user, pk, Role.REVIEWER if request.method == "POST" else Role.VIEWER)
    form = RecallForm(posted(request), initial=_initial(request, bank))
    if request.method == "POST" and form.is_valid():
        job = recalling.start(user=request.user, bank=bank, asked=form.asked())
        return SeeOther(reverse("reviews:recall-query", args=[job.pk]))
    context = {**around(request, bank), "form": form, "checks": checks_of(bank)}
    return render(request, "reviews/recall_desk.html", context, status=422 if form.errors else 200)


@require_safe
def recall_query(request: PersonRequest, pk: int) -> HttpResponse:
    job, bank = query_of(request, pk)
    context = query_context(request, job, bank)
    if not wants_fragment(request):
        return render(request, "reviews/recall_query.html", context)
    if "mark" in request.GET:
        sheet = context["sheet"]
        if sheet is not None and request.GET["mark"] == sheet.mark:
            return HttpResponse(status=204)
        return render(request, "reviews/_recall_facts.html", context)
    return render(request, "reviews/_recall_answer.html", context, status=STOP_POLLING if job.ended else 200)


@require_POST
def recall_save(request: PersonRequest, pk: int) -> HttpResponse:
    """The query as one that is asked each night, with the facts that are to come back."""
    job, bank = query_of(request, pk, Role.REVIEWER)
    form = CheckForm(request.POST)
    picks = [number_of(each) for each in request.POST.getlist("pick")[:1_000]]
    if form.is_valid():
        try:
            check = saving.save(user=request.user, job=job, name=form.cleaned_data["name"], picks=picks)
        except Refusal as refusal:
            form.add_error(None, str(refusal))
        else:
            messages.success(
                request, "Saved. It is asked each night; notifications tell when a fact stops coming back."
            )
            return SeeOther(reverse("reviews:recall-check", args=[check.pk]))
    context = {**query_context(request, job, bank), "check_form": form, "picks": picks}
    return render(request, "reviews/recall_query.html", context, status=422)


def query_of(request: PersonRequest, pk: int, role: Role = Role.VIEWER) -> tuple[Job, Bank]:
    """One's own query, on a bank that one may still see."""
    job = selectors.get_job(request.user, pk, [recalling.KIND])
    return job, access.get_bank(request.user, job.params["bank"], role)


def query_context(
    request: PersonRequest, job: Job, bank: Bank, *, notice: Notice | None = None, selected: str = ""
) -> dict[str, Any]:
    answer = answer_of(job)
    here = reverse("reviews:recall-query", args=[job.pk])
    return {
        **around(request, bank),
        "job": job,
        "asked": Asked.parse(job.params["asked"]),
        "answer": answer,
        "sheet": sheet_of(bank, answer.told, job.finished) if answer else None,
        "here": here,
        "again": f"{reverse('reviews:bank-recall', args=[bank.pk])}?again={job.pk}",
        "acts": acts_on_desk(bank, job.pk),
        "in_bank": True,
        "facts_url": reverse("reviews:bank-facts", args=[bank.pk]),
        "check_form": CheckForm(),
        "picks": [],
        "fact_notice": notice,
        "selected": selected,
    }


def around(request: PersonRequest, bank: Bank) -> dict[str, Any]:
    role = access.role_on(request.user, bank) or Role.VIEWER
    may_decide = role >= Role.REVIEWER and bank.addressable
    return {"bank": bank, "administered": role >= Role.ADMIN, "may_decide": may_decide, "may_ask": may_decide}


def _initial(request: PersonRequest, bank: Bank) -> dict[str, Any]:
    """What an earlier query, or a saved one, was asked with; else what agents ask with."""
    again, check = (number_of(request.GET.get(name, "")) for name in ("again", "check"))
    if again:
        job = selectors.get_job(request.user, again, [recalling.KIND])
        return initial_of(Asked.parse(job.params["asked"]))
    if check:
        found = get_check(request.user, check)
        return initial_of(asked_of(found)) if found.bank_id == bank.pk else {}
    return {}

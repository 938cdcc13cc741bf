"""Retaining by hand: everything that a retain takes, what it will become, and what became of it."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from banks import access, retain, selectors
from banks.forms_retain import MOST, WAIT, RetainForm, values_of
from banks.models import Job, RetainItem, Role, Write
from banks.retain import Planned
from banks.retain import selectors as queue
from banks.retain.preview import preview
from banks.services import dry_runs, retaining
from banks.troubles import of_bank
from memadmin.htmx import PersonRequest, SeeOther, wants_fragment

STOP_POLLING = 286  # htmx: swap this and ask no more
State = RetainItem.State
# A page that waits asks after a part of the time that it has waited, and at last no more.
SOONEST, LATEST, GIVES_UP = 2, 30, timedelta(hours=1)
OPEN = (State.QUEUED, State.SENT)


@require_http_methods(["GET", "HEAD", "POST"])
def retain_new(request: PersonRequest) -> HttpResponse:
    """The form; posted, it is shown again with a preview, or with more or fewer memories. Nothing is stored."""
    if request.method != "POST":
        values = {"bank": request.GET.get("bank", ""), "form": str(uuid4())}
        return _page(request, RetainForm(user=request.user, values=values))
    do, _, which = request.POST.get("do", "").partition("-")
    values = values_of(request.POST)
    if do in ("add", "remove"):
        return _rearranged(request, range(int(values["count"])), "" if do == "add" else which)
    form = RetainForm(request.POST, user=request.user, values=values)
    planned = _planned(request, form)
    if wants_fragment(request) and do == "preview":
        told = preview(planned) if planned else None
        return render(request, "banks/_retain_preview.html", {"form": form, "told": told})
    return _page(request, form, planned=planned)


@require_POST
def retain_try(request: PersonRequest) -> HttpResponse:
    """Has a worker ask for a dry run; the form stays as it is, with the outcome below it."""
    _prove_right(request)
    form = RetainForm(request.POST, user=request.user, values=values_of(request.POST))
    planned = _planned(request, form)
    if planned is None:
        return _page(request, form, status=form.status)
    job = dry_runs.start(user=request.user, planned=planned)
    form.dry_run = job.pk
    return _page(request, form, planned=planned)


@require_POST
def retain_send(request: PersonRequest) -> HttpResponse:
    """Into the queue, once for this form."""
    _prove_right(request)
    form = RetainForm(request.POST, user=request.user, values=values_of(request.POST))
    planned = _planned(request, form)
    if planned is None:
        return _page(request, form, status=form.status)
    try:
        job = retaining.send(user=request.user, form=form.form_id, planned=planned)
    except retain.Refused as error:
        form.refuse(error)
        return _page(request, form, status=form.status)
    except retain.OtherRequest as error:
        form.add_error("operation_id", str(error))
    except retaining.SentOtherwise as error:
        form.form_id = uuid4()
        again = "These are shown here as a new form: send it again if they are meant to be stored too."
        form.add_error(None, f"{error} {again}")
    else:
        wait = f"?{WAIT}=1" if form.cleaned_data["wait"] == WAIT else ""
        return SeeOther(reverse("banks:retain-sent", args=[job.pk]) + wait)
    return _page(request, form, status=409)


@require_safe
def retain_tried(request: PersonRequest, pk: int) -> HttpResponse:
    job = selectors.get_job(request.user, pk, [dry_runs.KIND])
    context = {"job": job, "tried": dry_runs.results_of(job), "asked": len(job.params["items"])}
    if wants_fragment(request):
        return render(request, "banks/_retain_tried.html", context, status=STOP_POLLING if job.ended else 200)
    return render(request, "banks/retain_tried.html", context)


@require_safe
def retain_sent(request: PersonRequest, pk: int) -> HttpResponse:
    """What became of the memories of one form. Waits for them where that was asked for."""
    job = selectors.get_job(request.user, pk, [retaining.KIND])
    rows = queue.rows_of(request.user, job)
    unfinished = [row for row in rows if row.state in OPEN]
    waited = timezone.now() - job.created
    waits = bool(unfinished) and request.GET.get(WAIT) == "1" and waited < GIVES_UP
    context: dict[str, Any] = {
        "job": job,
        "rows": rows,
        "hidden": len(job.result["items"]) - len(rows),
        "unfinished": len(unfinished),
        "done": sum(row.state == State.DONE for row in rows),
        "held": sum(row.state == State.HELD for row in rows),
        "attention": sum(row.state == State.ATTENTION for row in rows),
        "delay": min(max(int(waited.total_seconds() / 5), SOONEST), LATEST) if waits else 0,
        "gave_up": bool(unfinished) and waited >= GIVES_UP,
        "troubles": of_bank(rows[0].bank, fix=request.user.is_superuser) if unfinished else [],
    }
    if wants_fragment(request):
        return render(request, "banks/_retain_sent.html", context, status=200 if waits else STOP_POLLING)
    return render(request, "banks/retain_sent.html", context)


def _prove_right(request: PersonRequest) -> None:
    """404 for strangers of the bank that is named, 403 for readers; what names no bank is an error of the form."""
    bank = request.POST.get("bank", "")
    if bank.isascii() and bank.isdigit() and len(bank) < 18:
        access.get_bank(request.user, int(bank), Role.REVIEWER)


def _rearranged(request: PersonRequest, there: range, gone: str) -> HttpResponse:
    """The form with one memory more, or without the one that is named. What was typed is not checked yet."""
    kept: list[int | None] = [each for each in there if str(each) != gone]
    if (not gone and len(kept) < MOST) or not kept:
        kept.append(None)
    form = RetainForm(user=request.user, values=values_of(request.POST, kept))
    if kept[-1] is None:
        form.memories[-1].fields["content"].widget.attrs["autofocus"] = True
    return _page(request, form, typed=True)


def _planned(request: PersonRequest, form: RetainForm) -> Planned | None:
    """None where something is wrong: that stands in the form, with what it is about."""
    asked = form.read()
    if asked is None:
        return None
    try:
        planned = retain.plan(user=request.user, via=Write.Via.WEB, seed=form.form_id, **asked)
        planned.check(planned.bank)
        return planned
    except retain.Refused as error:
        form.refuse(error)
    except retain.BankClosed as error:
        form.status = 409
        form.add_error("bank", str(error))
    except Http404 as error:  # the project's bank
        form.add_error("project", str(error))
    except PermissionDenied:
        form.status = 403
        form.add_error("project", "Your role on the project's bank is not enough. Nothing was stored.")
    return None


def _page(
    request: PersonRequest,
    form: RetainForm,
    *,
    planned: Planned | None = None,
    typed: bool = False,
    status: int = 200,
) -> HttpResponse:
    context = {
        "form": form,
        "told": preview(planned) if planned else None,
        "typed": typed or form.is_bound,
        "most": MOST,
        **_dry_run(request, form),
    }
    page = "banks/_retain_form.html" if wants_fragment(request) else "banks/retain_form.html"
    return render(request, page, context, status=status)


def _dry_run(request: PersonRequest, form: RetainForm) -> dict[str, Any]:
    """The one that was asked for from this form."""
    jobs = Job.objects.filter(pk=form.dry_run or 0, kind=dry_runs.KIND, owner=request.user)
    job = jobs.first() if form.dry_run else None
    return {"job": job, "tried": dry_runs.results_of(job), "asked": len(job.params["items"])} if job else {"job": None}

"""Pages about what agents get at the beginning of a session: the block of a bank's models, and a file with markers."""

from datetime import timedelta
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_safe

from banks import access, selectors
from banks.blocks import agents, trials
from banks.blocks.markers import Marker
from banks.blocks.models import MINIMUM
from banks.blocks.preview import preview
from banks.blocks.profile import Profile
from banks.diffs import diff
from banks.forms_blocks import AgentsFileForm, BlockForm
from banks.models import Bank, Job, Role
from banks.paper import paper
from banks.reading import Unread
from banks.views.model_trials import STOP_POLLING
from banks.views.models import around
from memadmin.filtering import number_of
from memadmin.htmx import PersonRequest, posted, wants_fragment


@require_safe
def model_block(request: PersonRequest, pk: int) -> HttpResponse:
    """The page asks for the block by itself; without script a link brings both in one."""
    bank = access.get_bank(request.user, pk)
    form = BlockForm(request.GET)
    asked = {name: request.GET[name] for name in ("max_chars", "tags") if name in request.GET}
    context: dict[str, Any] = {**around(request, bank), "form": form, "asked": urlencode(asked), "minimum": MINIMUM}
    if form.is_valid() and (wants_fragment(request) or "now" in request.GET):
        context["most"] = form.most()
        try:
            told = agents.block_of(bank, most=form.most(), tags=form.tag_list(), fresh=timedelta(0))
        except Unread as unread:
            context["unread"] = unread
        else:
            context |= {"told": told, "paper": paper(told.block.text, 1) if told.block.text else None}
    page = "banks/_model_block.html" if wants_fragment(request) else "banks/model_block.html"
    return render(request, page, context, status=422 if form.errors and not wants_fragment(request) else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def agents_file(request: PersonRequest) -> HttpResponse:
    """What would stand in an AGENTS.md instead of its markers. A post, since files are long; it is not stored."""
    if request.method == "POST":
        access.require_named(request.user, request.POST.get("bank", ""), Role.VIEWER)
    initial = {"bank": request.GET.get("bank", "")}
    form = AgentsFileForm(posted(request), initial=initial, user=request.user)
    context: dict[str, Any] = {"form": form}
    if form.is_bound and form.is_valid():
        bank = form.cleaned_data["bank"]
        told = preview(bank, form.cleaned_data["text"], _recalled(request, bank))
        if told.recalling:
            context["job"] = trials.start(user=request.user, bank=bank, asked=told.recalling)
        after = paper(told.after, 1) if told.after.strip() else None
        context |= {"told": told, "diff": diff(told.before, told.after), "paper": after}
    return render(request, "banks/agents_file.html", context, status=422 if form.errors else 200)


@require_safe
def agents_recalled(request: PersonRequest, pk: int) -> HttpResponse:
    """How far the worker is that asks the bank for the queries of a file."""
    job = selectors.get_job(request.user, pk, [trials.KIND])
    bank = access.get_bank(request.user, job.params["bank"])
    found = {str(marker): profile for marker, profile in trials.recalled_by(job).items()}
    rows = [(each, found.get(each)) for each in job.params["markers"]]
    fragment = wants_fragment(request)
    context = {"job": job, "bank": bank, "rows": rows, "with_form": fragment and "alone" not in request.GET}
    if fragment:
        return render(request, "banks/_agents_recalled.html", context, status=STOP_POLLING if job.ended else 200)
    return render(request, "banks/agents_recalled.html", context)


def _recalled(request: PersonRequest, bank: Bank) -> dict[Marker, Profile]:
    """Of the work that the page began before, when it is this person's and about this bank."""
    named = number_of(request.POST.get("recalled", ""))
    done = Job.objects.filter(pk=named, kind=trials.KIND, owner=request.user, state=Job.State.DONE)
    job = done.filter(params__bank=bank.pk).first()
    return trials.recalled_by(job) if job else {}

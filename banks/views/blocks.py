"""Pages about what agents get at the beginning of a session: the block of a bank's models, and a file with markers."""

from datetime import timedelta
from typing import Any

from django.http import HttpResponse
from django.shortcuts import render
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_safe

from banks import access, selectors
from banks.blocks import agents, trials
from banks.blocks.models import MINIMUM
from banks.blocks.preview import preview
from banks.diffs import diff
from banks.forms_blocks import AgentsFileForm, BlockForm
from banks.models import Bank, Role
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
    """What would stand in an AGENTS.md instead of its markers. A post, since files are long; the file is not stored.

    The bank is asked by a worker; what it said is `told` by the number of that work, with the file once more.
    """
    if request.method == "POST":
        access.require_named(request.user, request.POST.get("bank", ""), Role.VIEWER)
    form = AgentsFileForm(posted(request), initial={"bank": request.GET.get("bank", "")}, user=request.user)
    context: dict[str, Any] = {"form": form}
    if form.is_bound and form.is_valid():
        context |= _tried(request, form.cleaned_data["bank"], form.cleaned_data["text"])
    page = "banks/_agents_outcome.html" if wants_fragment(request) else "banks/agents_file.html"
    return render(request, page, context, status=422 if form.errors else 200)


def _tried(request: PersonRequest, bank: Bank, text: str) -> dict[str, Any]:
    done = trials.ended(user=request.user, bank=bank, pk=number_of(request.POST.get("told", "")))
    seen = preview(text, trials.told_by(done) if done else {}, unread=trials.unread_by(done) if done else "")
    if seen.waits:
        return {"seen": seen, "job": trials.start(user=request.user, bank=bank, asked=seen.asked)}
    after = paper(seen.after, 1) if seen.after.strip() else None
    return {"seen": seen, "diff": diff(seen.before, seen.after), "paper": after}


@require_safe
def agents_told(request: PersonRequest, pk: int) -> HttpResponse:
    """How far the worker is that asks the bank for the markers of a file."""
    job = selectors.get_job(request.user, pk, [trials.KIND])
    bank = access.get_bank(request.user, job.params["bank"])
    fragment = wants_fragment(request)
    context: dict[str, Any] = {"job": job, "bank": bank, "with_form": fragment and "alone" not in request.GET}
    if not context["with_form"]:
        told = {str(marker): profile for marker, profile in trials.told_by(job).items()}
        context |= {"rows": [(each, told.get(each)) for each in job.params["markers"]]}
    if fragment:
        return render(request, "banks/_agents_told.html", context, status=STOP_POLLING if job.ended else 200)
    return render(request, "banks/agents_told.html", context)

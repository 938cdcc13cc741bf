"""A bank as a file: its export and the import of one, all of them jobs."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.utils.text import slugify
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from banks import access, kept_files
from banks.forms_banks import CloneForm
from banks.forms_transfer import TransferForm, too_large
from banks.jobs import JobError
from banks.models import Bank, Job, Role
from banks.services.refusal import Refusal
from banks.transfer import exporting, importing, lots
from banks.transfer.plan import plan_of
from banks.whole import acts
from memadmin.exporting import TYPES
from memadmin.htmx import PersonRequest, SeeOther, posted, wants_fragment
from memadmin.uploads import refused


@require_http_methods(["GET", "HEAD", "POST"])
def bank_export(request: PersonRequest, pk: int) -> HttpResponse:
    """The latest export of this person; a post begins another one."""
    bank = access.get_bank(request.user, pk, Role.ADMIN)
    if request.method == "POST":
        try:
            exporting.start(user=request.user, bank_id=pk)
        except JobError as refused:
            messages.error(request, str(refused))
        return SeeOther(reverse("banks:bank-export", args=[pk]))
    name = "_bank_export" if wants_fragment(request) else "bank_export"
    return render(request, f"banks/{name}.html", _context(request, bank))


@require_safe
def bank_export_file(request: PersonRequest, pk: int) -> HttpResponseBase:
    bank = access.get_bank(request.user, pk, Role.ADMIN)
    job = _latest(request, bank)
    if job is None or job.state != Job.State.DONE:
        raise Http404("There is no export.")
    try:
        response = StreamingHttpResponse(lots.blocks(job.cursor["lots"]), content_type=TYPES["jsonl"])
    except FileNotFoundError:
        messages.warning(request, "This export was thrown away. Export the bank again.")
        return SeeOther(reverse("banks:bank-export", args=[pk]))
    day = timezone.localdate(job.finished).isoformat()
    name = slugify(bank.bank_id)[:80] or f"bank-{bank.pk}"
    response["Content-Disposition"] = f'attachment; filename="{name}-{day}.jsonl"'
    response["Content-Length"] = str(job.result["size"])
    response["Cache-Control"] = "no-store"
    response["X-Content-Type-Options"] = "nosniff"
    return response


@require_http_methods(["GET", "HEAD", "POST"])
def bank_import(request: PersonRequest, pk: int) -> HttpResponse:
    """Choosing the file; a post keeps it and begins the preview."""
    bank = access.get_bank(request.user, pk, Role.ADMIN)
    if request.method != "POST":
        return _choose(request, bank, TransferForm())
    form = TransferForm(request.POST, request.FILES)
    if status := refused(request, form, too_large()):
        return _choose(request, bank, form, status)
    chunks = form.cleaned_data["file"].chunks()
    try:
        job = importing.preview(user=request.user, bank_id=pk, chunks=chunks, most=settings.IMPORT_MAX_BYTES)
    except kept_files.TooLarge:
        form.add_error("file", too_large())
        return _choose(request, bank, form, 413)
    return SeeOther(_plan_url(bank, job.pk))


@require_safe
def bank_import_plan(request: PersonRequest, pk: int) -> HttpResponse:
    """What the file would do, and what became of it once that was begun."""
    bank = access.get_bank(request.user, pk, Role.ADMIN)
    plan = plan_of(_preview(request, bank, request.GET.get("job", "")), request.GET)
    context = {"bank": bank, "plan": plan, "here": _plan_url(bank, plan.seen.pk), "hold": bank.hold}
    name = "_bank_import" if wants_fragment(request) else "bank_import_plan"
    return render(request, f"banks/{name}.html", context)


@require_POST
def bank_import_begin(request: PersonRequest, pk: int) -> HttpResponse:
    bank = access.get_bank(request.user, pk, Role.ADMIN)
    seen = _preview(request, bank, request.POST.get("job", ""))
    try:
        importing.start(user=request.user, bank_id=pk, preview_id=seen.pk, replace=request.POST.get("replace") == "yes")
    except JobError as error:
        messages.error(request, str(error))
    return SeeOther(_plan_url(bank, seen.pk))


@require_http_methods(["GET", "HEAD", "POST"])
def bank_clone(request: PersonRequest, pk: int) -> HttpResponse:
    """For admins of the whole server: a bank is made on it."""
    bank = access.get_bank(request.user, pk, Role.ADMIN)
    access.get_server(request.user, bank.server_id, Role.ADMIN)
    form = CloneForm(posted(request))
    status = 422 if form.errors else 200
    if request.method == "POST" and form.is_valid():
        said = form.cleaned_data
        try:
            write = acts.clone(actor=request.user, source=bank, bank_id=said["bank_id"], config=said["config"])
        except Refusal as refusal:
            form.add_error(refusal.field or None, str(refusal))
            status = 422
        else:
            messages.success(request, "The bank is being cloned; this row says how it ends.")
            return SeeOther(reverse("banks:write-detail", args=[write.pk]))
    context = {"bank": bank, "form": form, "old_server": bank.server.api_version.startswith("0.")}
    return render(request, "banks/bank_clone.html", context, status=status)


def _choose(request: PersonRequest, bank: Bank, form: TransferForm, status: int = 200) -> HttpResponse:
    context = {"bank": bank, "form": form, "latest": importing.previews_of(request.user, bank)[:5]}
    return render(request, "banks/bank_import.html", context, status=status)


def _preview(request: PersonRequest, bank: Bank, given: str) -> Job:
    number = int(given) if given.isascii() and given.isdigit() and len(given) < 18 else 0
    return get_object_or_404(importing.previews_of(request.user, bank), pk=number)


def _plan_url(bank: Bank, job_id: int) -> str:
    return f"{reverse('banks:bank-import-plan', args=[bank.pk])}?job={job_id}"


def _latest(request: PersonRequest, bank: Bank) -> Job | None:
    return exporting.exports_of(request.user, bank).first()


def _context(request: PersonRequest, bank: Bank) -> dict[str, Any]:
    job = _latest(request, bank)
    until = exporting.until(job) if job else None
    return {
        "bank": bank,
        "here": reverse("banks:bank-export", args=[bank.pk]),
        "job": job,
        "until": until,
        "over": until is not None and until < timezone.now(),
        "clonable": access.servers_for(request.user).filter(pk=bank.server_id).exists(),
        "startable": bank.addressable and bank.gone_since is None and (job is None or job.ended),
    }

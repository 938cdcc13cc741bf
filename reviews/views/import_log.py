"""Upload of an agent's log, into the write log of a bank."""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from banks import access
from banks.models import Role
from memadmin.htmx import PersonRequest, SeeOther
from memadmin.uploads import TOO_LARGE
from reviews.forms import LogImportForm, too_large
from reviews.importing import files
from reviews.importing.log_job import start_log_import


@require_http_methods(["GET", "HEAD", "POST"])
def import_log(request: PersonRequest) -> HttpResponse:
    if request.method != "POST":
        return _form(request, LogImportForm(initial={"bank": request.GET.get("bank", "")}, user=request.user))
    bank = request.POST.get("bank", "")
    if bank.isascii() and bank.isdigit() and len(bank) < 18:
        access.get_bank(request.user, int(bank), Role.REVIEWER)
    form = LogImportForm(request.POST, request.FILES, user=request.user)
    if request.META.get(TOO_LARGE):
        form.errors["file"] = form.error_class([too_large()])
        return _form(request, form, status=413)
    if not form.is_valid():
        return _form(request, form, status=422)
    try:
        chosen, file = form.cleaned_data["bank"], form.cleaned_data["file"]
        job = start_log_import(user=request.user, bank_id=chosen.pk, chunks=file.chunks())
    except files.TooLarge:
        form.add_error("file", too_large())
        return _form(request, form, status=413)
    return SeeOther(reverse("reviews:import-detail", args=[job.pk]))


def _form(request: PersonRequest, form: LogImportForm, status: int = 200) -> HttpResponse:
    return render(request, "reviews/import_log_form.html", {"form": form}, status=status)

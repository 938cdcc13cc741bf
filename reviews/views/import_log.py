"""Upload of an agent's log, into the write log of a bank."""

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from banks import access
from banks.models import Role
from memadmin.htmx import PersonRequest, SeeOther
from memadmin.uploads import refused
from reviews.forms import LogImportForm, too_large
from reviews.importing import files
from reviews.importing.log_job import start_log_import


@require_http_methods(["GET", "HEAD", "POST"])
def import_log(request: PersonRequest) -> HttpResponse:
    if request.method != "POST":
        return _form(request, LogImportForm(initial={"bank": request.GET.get("bank", "")}, user=request.user))
    access.require_named(request.user, request.POST.get("bank", ""), Role.REVIEWER)
    form = LogImportForm(request.POST, request.FILES, user=request.user)
    if status := refused(request, form, too_large()):
        return _form(request, form, status)
    try:
        chosen, file = form.cleaned_data["bank"], form.cleaned_data["file"]
        job = start_log_import(user=request.user, bank_id=chosen.pk, chunks=file.chunks())
    except files.TooLarge:
        form.add_error("file", too_large())
        return _form(request, form, status=413)
    return SeeOther(reverse("reviews:import-detail", args=[job.pk]))


def _form(request: PersonRequest, form: LogImportForm, status: int = 200) -> HttpResponse:
    return render(request, "reviews/import_log_form.html", {"form": form}, status=status)

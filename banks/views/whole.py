"""Making, naming and deleting a bank. The id that has to be typed is compared here, whatever a browser checked."""

import json
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from banks import access, connections
from banks.config.seen import CALL_SECONDS
from banks.crypto import CannotDecrypt
from banks.forms_banks import NewBankForm, RenameForm
from banks.hindsight import HindsightError
from banks.models import Bank, Role
from banks.services.refusal import Refusal
from banks.whole import acts, selectors
from memadmin.htmx import PersonRequest, SeeOther, posted, wants_fragment


@require_http_methods(["GET", "HEAD", "POST"])
def bank_new(request: PersonRequest) -> HttpResponse:
    access.require_reach(request.user, "servers")
    form = NewBankForm(posted(request), user=request.user)
    if request.method != "POST" or not form.is_valid():
        return render(request, "banks/bank_new.html", {"form": form}, status=422 if form.errors else 200)
    said = form.cleaned_data
    try:
        write = acts.create(actor=request.user, server=said["server"], bank_id=said["bank_id"], name=said["name"])
    except Refusal as refusal:
        form.add_error(refusal.field or None, str(refusal))
        return render(request, "banks/bank_new.html", {"form": form}, status=422)
    messages.success(request, f"The bank is being made. Row {write.pk} of the log says how it ends.")
    return SeeOther(reverse("banks:bank-policy", args=[write.bank_id]))


@require_http_methods(["GET", "HEAD", "POST"])
def bank_rename(request: PersonRequest, pk: int) -> HttpResponse:
    bank = access.get_bank(request.user, pk, Role.ADMIN)
    form = RenameForm(posted(request), initial={"name": "" if bank.named_here else bank.name})
    if request.method != "POST" or not form.is_valid():
        return _rename_page(request, bank, form)
    try:
        write = acts.rename(actor=request.user, bank=bank, name=form.cleaned_data["name"])
    except Refusal as refusal:
        form.add_error(refusal.field or None, str(refusal))
        return _rename_page(request, bank, form, status=409)
    if write is None:
        messages.info(request, "It is called so already, so nothing was sent.")
    else:
        messages.success(request, f"The name is being sent. Row {write.pk} of the log says how it ends.")
    return SeeOther(reverse("banks:bank-rename", args=[pk]))


@require_http_methods(["GET", "HEAD", "POST"])
def bank_delete(request: PersonRequest, pk: int) -> HttpResponse:
    """The page asks for what the bank has by itself; without script a link brings both in one."""
    bank = access.get_bank(request.user, pk, Role.ADMIN)
    if request.method != "POST":
        asked = wants_fragment(request) or "now" in request.GET
        context = _deleting(bank, selectors.contents_of(bank) if asked else None)
        name = "banks/_bank_delete.html" if wants_fragment(request) else "banks/bank_delete.html"
        return render(request, name, context)
    documents = request.POST.get("documents", "")
    known = int(documents) if documents.isascii() and documents.isdigit() and len(documents) < 12 else None
    try:
        acts.delete(actor=request.user, bank=bank, typed=request.POST.get("typed", ""), documents=known)
    except Refusal as refusal:
        context = _deleting(bank, selectors.known_of(bank)) | {"problem": str(refusal)}
        return render(request, "banks/bank_delete.html", context, status=400 if refusal.field else 409)
    messages.success(request, "The bank will be deleted. Until then anybody who is an admin of it can keep it.")
    return SeeOther(reverse("banks:bank-delete", args=[pk]))


@require_POST
def bank_keep(request: PersonRequest, pk: int) -> HttpResponse:
    bank = access.get_bank(request.user, pk, Role.ADMIN)
    if acts.keep(actor=request.user, bank=bank):
        messages.success(request, "The bank stays: its delete was taken back before anything was sent.")
    else:
        messages.warning(request, "Nothing was taken back: no delete waits any more. The log says what happened.")
    return SeeOther(reverse("banks:bank-delete", args=[pk]))


@require_safe
def bank_export(request: PersonRequest, pk: int) -> HttpResponse:
    """The bank's own settings, models and directives as its server writes them down, for an import."""
    bank = access.get_bank(request.user, pk, Role.ADMIN)
    try:
        with connections.talking_to(bank.server, within=CALL_SECONDS) as client:
            told = client.export_bank(bank.bank_id)
    except (HindsightError, CannotDecrypt) as error:
        messages.error(request, f"Nothing was exported. {error}")
        return SeeOther(reverse("banks:bank-config", args=[pk]))
    text = json.dumps(told, indent=2, sort_keys=True)
    answer = HttpResponse(text, content_type="application/json")
    answer["Content-Disposition"] = f'attachment; filename="bank-{pk}-settings.json"'
    answer["Cache-Control"] = "no-store"
    return answer


def _rename_page(request: PersonRequest, bank: Bank, form: RenameForm, status: int = 0) -> HttpResponse:
    context = {"bank": bank, "form": form, "deletion": selectors.deletion_of(bank)}
    return render(request, "banks/bank_rename.html", context, status=status or (422 if form.errors else 200))


def _deleting(bank: Bank, contents: selectors.Contents | None) -> dict[str, Any]:
    return {
        "bank": bank,
        "contents": contents,
        "stays": selectors.stays_of(bank),
        "deletion": selectors.deletion_of(bank),
        "grace": settings.BANK_DELETE_MINUTES,
    }

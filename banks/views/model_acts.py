"""Acts on the mental models of a bank: what each means is said first, and then it is one row of the write log."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST

from banks import access, selectors, selectors_models
from banks.diffs import diff
from banks.mental import acts
from banks.mental.looking import seen_of
from banks.models import Bank, Role, Write
from banks.reading import Unread
from banks.services.refusal import ChangedMeanwhile, Refusal
from banks.views.models import address_of, around, named
from memadmin.htmx import PersonRequest, SeeOther


@require_http_methods(["GET", "HEAD", "POST"])
def model_refresh(request: PersonRequest, pk: int) -> HttpResponse:
    bank = access.get_bank(request.user, pk, Role.REVIEWER)
    if request.method != "POST":
        return _confirm(request, bank, "refresh")
    try:
        write = acts.refresh(user=request.user, bank=bank, model_id=named(request))
    except Refusal as refusal:
        return _confirm(request, bank, "refresh", refusal)
    return _sent(request, bank, write)


@require_http_methods(["GET", "HEAD", "POST"])
def model_refresh_all(request: PersonRequest, pk: int) -> HttpResponse:
    """Those that the server refreshes after consolidation anyway. Another number than the one on screen asks again."""
    bank = access.get_bank(request.user, pk, Role.REVIEWER)
    sheet = selectors_models.sheet_of(bank, detail="content")
    due = acts.due(sheet.rows or [])
    chosen = due[: acts.MOST_REFRESHED]
    context = {**around(request, bank), "sheet": sheet, "due": chosen, "left": len(due) - len(chosen)}
    page = "banks/model_refresh_all.html"
    if request.method != "POST":
        return render(request, page, context)
    if not chosen or request.POST.get("total") != str(len(chosen)):
        return render(request, page, {**context, "moved": True}, status=409)
    try:
        group = acts.refresh_all(user=request.user, bank=bank, rows=chosen)
    except Refusal as refusal:
        return render(request, page, {**context, "refused": str(refusal)}, status=409)
    messages.success(request, "They are refreshed one after the other.")
    return SeeOther(f"{reverse('banks:write-list')}?{urlencode({'group': str(group)})}")


@require_http_methods(["GET", "HEAD", "POST"])
def model_delete(request: PersonRequest, pk: int) -> HttpResponse:
    bank = access.get_bank(request.user, pk, Role.ADMIN)
    if request.method != "POST":
        return _confirm(request, bank, "delete")
    try:
        write = acts.delete(user=request.user, bank=bank, model_id=named(request), seen=request.POST.get("seen", ""))
    except Refusal as refusal:
        return _confirm(request, bank, "delete", refusal)
    messages.success(request, f"It is being deleted. Row {write.pk} of the log keeps it, and can put it back.")
    return SeeOther(reverse("banks:bank-model-list", args=[bank.pk]))


@require_http_methods(["GET", "HEAD", "POST"])
def model_pin(request: PersonRequest, pk: int) -> HttpResponse:
    """The text as it is, or with `version` an earlier one, which the server cannot be told to take back."""
    bank = access.get_bank(request.user, pk, Role.ADMIN)
    if request.method != "POST":
        return _confirm(request, bank, "pin")
    seen, version = request.POST.get("seen", ""), request.POST.get("version", "")
    try:
        write = acts.pin(user=request.user, bank=bank, model_id=named(request), seen=seen, version=version)
    except Refusal as refusal:
        return _confirm(request, bank, "pin", refusal)
    return _sent(request, bank, write)


@require_POST
def model_unpin(request: PersonRequest, pk: int) -> HttpResponse:
    bank = access.get_bank(request.user, pk, Role.ADMIN)
    try:
        write = acts.unpin(user=request.user, bank=bank, model_id=named(request))
    except Refusal as refusal:
        messages.error(request, str(refusal))
        return SeeOther(address_of("bank-model-detail", bank, named(request)))
    return _sent(request, bank, write)


@require_POST
def model_put_back(request: PersonRequest, pk: int) -> HttpResponse:
    write = selectors.get_write(request.user, pk, Role.ADMIN)
    try:
        made = acts.put_back(user=request.user, write=write)
    except Refusal as refusal:
        messages.error(request, str(refusal))
        return SeeOther(reverse("banks:write-detail", args=[pk]))
    return SeeOther(reverse("banks:write-detail", args=[made.pk]))


def _sent(request: PersonRequest, bank: Bank, write: Write) -> HttpResponse:
    messages.success(request, f"It is being done. Row {write.pk} of the log says how it ends.")
    return SeeOther(address_of("bank-model-detail", bank, named(request)))


def _confirm(request: PersonRequest, bank: Bank, act: str, refusal: Refusal | None = None) -> HttpResponse:
    """What the act means, on the model as it is now."""
    model_id = named(request)
    found = selectors_models.read(bank, model_id)
    context: dict[str, Any] = {**around(request, bank), "act": act, "model_id": model_id, "read": found}
    context |= {"row": found.row, "refused": str(refusal or "")}
    if found.row is not None:
        context["seen"] = seen_of(found.row.model)
    status = 200 if found.row is not None else 404 if found.gone else 200
    if act == "pin" and (key := (request.POST if request.method == "POST" else request.GET).get("version", "")):
        context |= _version(bank, model_id, key)
    if refusal is not None:
        status = 409 if isinstance(refusal, ChangedMeanwhile) else 422
    return render(request, "banks/model_confirm.html", context, status=status)


def _version(bank: Bank, model_id: str, key: str) -> dict[str, Any]:
    try:
        versions = selectors_models.history_of(bank, model_id)
    except Unread as unread:
        return {"version_key": key, "version_why": unread.sentence}
    version = next((each for each in versions if each.key == key and each.before is not None), None)
    if version is None or version.before is None:
        return {"version_key": key, "version_why": acts.NO_VERSION}
    now = selectors_models.read(bank, model_id).row
    text = (now.model.content or "") if now else ""
    return {"version_key": key, "version": version, "diff": diff(text, version.before)}

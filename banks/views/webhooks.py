"""The webhook of a bank, and the address that its server calls."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, UnreadablePostError
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe

from banks import access, selectors_webhooks
from banks.models import Role
from banks.services import webhooks
from banks.services.refusal import Refusal
from banks.webhooks import receive
from memadmin.htmx import PersonRequest, SeeOther


@require_safe
def bank_webhook(request: PersonRequest, pk: int) -> HttpResponse:
    bank = access.get_bank(request.user, pk, Role.ADMIN)
    before = request.GET.get("before", "")
    number = int(before) if before.isascii() and before.isdigit() and len(before) < 18 else 0
    context = {
        "bank": bank,
        "state": selectors_webhooks.webhook_state(bank),
        "page": selectors_webhooks.deliveries(bank, before=number),
        "first": not number,
        "base": _base(request),
        "public": bool(settings.PUBLIC_URL),
    }
    return render(request, "banks/bank_webhook.html", context)


@require_POST
def bank_webhook_register(request: PersonRequest, pk: int) -> HttpResponse:
    bank = access.get_bank(request.user, pk, Role.ADMIN)
    try:
        webhooks.register(actor=request.user, bank=bank, base=_base(request))
    except Refusal as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, "The webhook is being registered with the server.")
    return SeeOther(reverse("banks:bank-webhook", args=[pk]))


@require_POST
def bank_webhook_remove(request: PersonRequest, pk: int) -> HttpResponse:
    bank = access.get_bank(request.user, pk, Role.ADMIN)
    try:
        webhooks.remove(actor=request.user, bank=bank)
    except Refusal as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, "Nothing is taken from it any more, and the server is being told.")
    return SeeOther(reverse("banks:bank-webhook", args=[pk]))


@csrf_exempt
@login_not_required
def webhook_receive(request: HttpRequest, token: str) -> HttpResponse:
    """For programs: plain words, no cookie, no redirect. How long the body is, is known before it is read."""
    if request.method != "POST":
        return _said(405, "it takes POST")
    length = request.META.get("CONTENT_LENGTH") or ""
    if not (length.isascii() and length.isdigit()):
        return _said(411, "how long is it?")
    if len(length) > 9 or int(length) > receive.MOST_BYTES:
        return _said(413, f"at most {receive.MOST_BYTES} bytes")
    try:
        return _said(200, receive.receive(token=token, headers=request.headers, raw=request.body))
    except UnreadablePostError:
        return _said(400, "the body did not arrive")
    except receive.NotTaken as refusal:
        return _said(refusal.status, str(refusal))


def _said(status: int, text: str) -> HttpResponse:
    answer = HttpResponse(f"{text}\n", status=status, content_type="text/plain; charset=utf-8")
    if status == 405:
        answer["Allow"] = "POST"
    return answer


def _base(request: HttpRequest) -> str:
    """Where servers reach us: as the operator says, else as this person does."""
    return settings.PUBLIC_URL or request.build_absolute_uri("/").rstrip("/")

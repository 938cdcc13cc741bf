"""How a bank is set on its server: every setting, what of it is the bank's own, and who changed it."""

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from banks import access
from banks.config import change, drift
from banks.config.fields import Asked, asked_by, grouped, settings_of
from banks.config.seen import Reading, Seen, read
from banks.models import Bank, Role, Write
from banks.services.refusal import Refusal
from banks.whole import selectors as whole
from memadmin.htmx import PersonRequest, SeeOther, wants_fragment

TARGETS = 500
NOTHING = "Nothing was different, so nothing was sent."
STRANGE = "Nothing was sent: this form is not of this page any more. Look at what is below, and change it there."
SENT = "It is being sent, and read back. Row {} of the log says how it ends."


@require_http_methods(["GET", "HEAD", "POST"])
def bank_config(request: PersonRequest, pk: int) -> HttpResponse:
    """The page asks for its form by itself; without script a link brings both in one."""
    bank = access.get_bank(request.user, pk, Role.ADMIN)
    if request.method == "POST":
        return _save(request, bank)
    if wants_fragment(request):
        return render(request, "banks/_bank_config.html", _form(bank, read(bank)))
    return _page(request, bank, read(bank) if "now" in request.GET else None)


def _save(request: PersonRequest, bank: Bank) -> HttpResponse:
    seen = Seen.unsigned(bank, request.POST.get("seen", ""))
    if seen is None:
        return _page(request, bank, read(bank), problem=STRANGE, status=409)
    asked = asked_by(seen.values, seen.overrides, request.POST)
    if asked.errors:
        return _page(request, bank, Reading(seen), asked=asked, status=422)
    try:
        write = change.change(actor=request.user, bank=bank, seen=seen, updates=asked.updates)
    except Refusal as refusal:
        return _page(request, bank, Reading(seen), asked=asked, problem=str(refusal), status=409)
    return _told(request, bank, write)


@require_POST
def bank_mission(request: PersonRequest, pk: int) -> HttpResponse:
    """Writes one mission again, as the policy has it or as we wrote it last."""
    bank = access.get_bank(request.user, pk, Role.ADMIN)
    seen = Seen.unsigned(bank, request.POST.get("seen", ""))
    if seen is None:
        return _page(request, bank, read(bank), problem=STRANGE, status=409)
    name, source = request.POST.get("mission", ""), request.POST.get("take", "")
    texts = {each.name: each.text(source) for each in drift.drifts(bank, seen)}
    updates = {name: text} if (text := texts.get(name)) is not None else {}
    try:
        write = change.change(actor=request.user, bank=bank, seen=seen, updates=updates)
    except Refusal as refusal:
        return _page(request, bank, Reading(seen), problem=str(refusal), status=409)
    return _told(request, bank, write)


@require_http_methods(["GET", "HEAD", "POST"])
def bank_config_copy(request: PersonRequest, pk: int) -> HttpResponse:
    """What another bank would get, and then it. `to`: the other bank, of which one must be an admin too."""
    bank = access.get_bank(request.user, pk, Role.ADMIN)
    to = (request.POST if request.method == "POST" else request.GET).get("to", "")
    target = access.get_bank(request.user, int(to), Role.ADMIN) if _is_number(to) and int(to) != bank.pk else None
    if target is None or request.method != "POST":
        return _copy_page(request, bank, target)
    here, there = (
        Seen.unsigned(bank, request.POST.get("here", "")),
        Seen.unsigned(target, request.POST.get("there", "")),
    )
    if here is None or there is None:
        return _copy_page(request, bank, target, problem=STRANGE, status=409)
    names = request.POST.getlist("setting")
    try:
        write = change.copy(actor=request.user, source=bank, target=target, here=here, there=there, names=names)
    except Refusal as refusal:
        return _copy_page(request, bank, target, problem=str(refusal), status=409)
    return _told(request, target, write)


def _copy_page(
    request: PersonRequest, bank: Bank, target: Bank | None, *, problem: str = "", status: int = 200
) -> HttpResponse:
    """Both servers are asked by a fragment, and by the page itself only where it was asked to."""
    fragment = wants_fragment(request) and target is not None
    context: dict[str, Any] = {"bank": bank, "target": target, "problem": problem}
    if target is not None and (fragment or problem or "now" in request.GET):
        here, there = read(bank), read(target)
        context |= {"here": here, "there": there}
        if here.seen and there.seen:
            context["lines"] = change.compared(here.seen, there.seen)
            context |= {"signed_here": here.seen.signed(bank), "signed_there": there.seen.signed(target)}
    if fragment:
        return render(request, "banks/_bank_config_copy.html", context, status=status)
    context["targets"] = whole.administered(request.user).exclude(pk=bank.pk).filter(gone_since=None)[:TARGETS]
    return render(request, "banks/bank_config_copy.html", context, status=status)


def _told(request: PersonRequest, bank: Bank, write: Write | None) -> HttpResponse:
    if write is None:
        messages.info(request, NOTHING)
    else:
        messages.success(request, SENT.format(write.pk))
    return SeeOther(reverse("banks:bank-config", args=[bank.pk]))


def _page(
    request: PersonRequest,
    bank: Bank,
    reading: Reading | None,
    *,
    asked: Asked | None = None,
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    context: dict[str, Any] = {
        "bank": bank,
        "problem": problem,
        "asked": asked,
        "changes": drift.changes_of(bank)[: drift.SHOWN],
        "deletion": whole.deletion_of(bank),
        **(_form(bank, reading, asked) if reading else {}),
    }
    return render(request, "banks/bank_config.html", context, status=status)


def _form(bank: Bank, reading: Reading, asked: Asked | None = None) -> dict[str, Any]:
    """`asked`: a form that came back and was not stored stands as it was typed in."""
    context: dict[str, Any] = {"bank": bank, "reading": reading}
    if reading.seen is not None:
        seen = reading.seen
        shown = asked.settings if asked else settings_of(seen.values, seen.overrides)
        context |= {
            "groups": grouped(shown),
            "total": len(shown),
            "own": len(seen.overrides),
            "signed": seen.signed(bank),
            "drifts": drift.drifts(bank, seen),
            "under_way": drift.changes_of(bank).filter(state__in=Write.OPEN).first(),
        }
    return context


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 18

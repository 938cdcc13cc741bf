"""The directives of a bank. Their ids travel in queries and bodies."""

from typing import Any
from uuid import UUID, uuid4

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from banks import access
from banks import selectors_directives as listed
from banks.directive_kinds import values_of
from banks.forms_directives import DirectiveForm
from banks.models import Bank, Role, Write
from banks.reading import Unread
from banks.services import directives
from banks.services.refusal import Refusal
from memadmin.htmx import PersonRequest, SeeOther, posted, wants_fragment

LAST_PAGE = 100_000


@require_safe
def directive_list(request: PersonRequest, pk: int) -> HttpResponse:
    """The page asks for its list by itself; without script a link brings both in one."""
    bank = access.get_bank(request.user, pk)
    if wants_fragment(request):
        if request.GET.get("mark", "") and request.GET["mark"] == listed.mark_of(bank):
            return HttpResponse(status=204)
        return render(request, "banks/_directives.html", _listed(request, bank))
    context = _listed(request, bank) if "now" in request.GET else _around(request, bank)
    return render(request, "banks/directive_list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def directive_add(request: PersonRequest, pk: int) -> HttpResponse:
    bank = access.get_bank(request.user, pk, Role.ADMIN)
    form = DirectiveForm(posted(request))
    token = _form_id(request)
    if request.method != "POST" or not form.is_valid():
        return _form(request, bank, form, token=token, status=422 if form.errors else 200)
    try:
        directives.create(user=request.user, bank_id=pk, form=token, values=form.values())
    except Refusal as refusal:
        form.add_error(None, str(refusal))
        return _form(request, bank, form, token=uuid4(), status=409)
    messages.success(request, "The directive is being created.")
    return SeeOther(_here(bank))


@require_http_methods(["GET", "HEAD", "POST"])
def directive_edit(request: PersonRequest, pk: int) -> HttpResponse:
    bank = access.get_bank(request.user, pk, Role.ADMIN)
    given = request.POST if request.method == "POST" else request.GET
    directive_id, seen = given.get("directive", ""), request.POST.get("seen", "")
    if request.method != "POST":
        try:
            found = directives.read(bank, directive_id)
        except Unread as unread:
            return _refused(request, bank, unread.sentence)
        seen, said = listed.row_of(bank, found).seen, values_of(found)
        form = DirectiveForm(initial={**said, "tags": "\n".join(said["tags"])})
        return _form(request, bank, form, directive_id=directive_id, seen=seen)
    form = DirectiveForm(request.POST)
    if not form.is_valid():
        return _form(request, bank, form, directive_id=directive_id, seen=seen, status=422)
    named = directives.Named(pk, directive_id, seen)
    try:
        write = directives.edit(user=request.user, named=named, values=form.values())
    except Refusal as refusal:
        form.add_error(None, str(refusal))
        return _form(request, bank, form, directive_id=directive_id, seen=seen, status=409)
    _say(request, write, "The directive is being changed.")
    return SeeOther(_here(bank))


@require_POST
def directive_switch(request: PersonRequest, pk: int) -> HttpResponse:
    bank = access.get_bank(request.user, pk, Role.ADMIN)
    on = request.POST.get("on") == "1"
    try:
        write = directives.switch(user=request.user, named=_named(request, pk), on=on)
    except Refusal as refusal:
        return _refused(request, bank, str(refusal))
    _say(request, write, f"The directive is being switched {'on' if on else 'off'}.")
    return SeeOther(_here(bank))


@require_http_methods(["GET", "HEAD", "POST"])
def directive_delete(request: PersonRequest, pk: int) -> HttpResponse:
    """What is lost is said before."""
    bank = access.get_bank(request.user, pk, Role.ADMIN)
    if request.method != "POST":
        try:
            row = listed.row_of(bank, directives.read(bank, request.GET.get("directive", "")))
        except Unread as unread:
            return _refused(request, bank, unread.sentence)
        return render(request, "banks/directive_confirm.html", {**_around(request, bank), "row": row})
    try:
        directives.delete(user=request.user, named=_named(request, pk))
    except Refusal as refusal:
        return _refused(request, bank, str(refusal))
    messages.success(request, "The directive is being deleted. Its text is kept in the log.")
    return SeeOther(_here(bank))


def _named(request: PersonRequest, pk: int) -> directives.Named:
    return directives.Named(pk, request.POST.get("directive", ""), request.POST.get("seen", ""))


def _say(request: PersonRequest, write: Write | None, done: str) -> None:
    if write is None:
        messages.info(request, "It is like that already, so nothing was sent.")
    else:
        messages.success(request, done)


def _form_id(request: PersonRequest) -> UUID:
    """Of this form: two posts of it are one directive. What is no id is a new form."""
    try:
        return UUID(request.POST.get("form", ""))
    except ValueError:
        return uuid4()


def _here(bank: Bank) -> str:
    return reverse("banks:directive-list", args=[bank.pk])


def _around(request: PersonRequest, bank: Bank) -> dict[str, Any]:
    role = access.role_on(request.user, bank)
    administered = role is not None and role >= Role.ADMIN
    page = request.GET.get("page", "")
    number = int(page) if page.isascii() and page.isdigit() and len(page) < 8 else 1
    return {
        "bank": bank,
        "administered": administered,
        "may_write": administered and bank.addressable,
        "here": _here(bank),
        "page": min(max(number, 1), LAST_PAGE),
    }


def _listed(request: PersonRequest, bank: Bank) -> dict[str, Any]:
    around = _around(request, bank)
    return {**around, "sheet": listed.page_of(bank, around["page"])}


def _refused(request: PersonRequest, bank: Bank, text: str, status: int = 409) -> HttpResponse:
    """The list as it is now, and why nothing was done."""
    context = {**_listed(request, bank), "refused": text}
    return render(request, "banks/directive_list.html", context, status=status)


def _form(request: PersonRequest, bank: Bank, form: DirectiveForm, *, status: int = 200, **named: Any) -> HttpResponse:
    """`named`: the directive and what was seen of it, or the id of the form of a new one."""
    context = {**_around(request, bank), "form": form, **named}
    return render(request, "banks/directive_form.html", context, status=status)

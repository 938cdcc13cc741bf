"""Whose bank it is: nobody's in particular, or a person's, whom it is then about."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from banks import access, forms, selectors_people
from banks.models import AdminEvent, Bank, Role
from banks.services import person
from banks.services.refusal import Refusal
from memadmin.htmx import PersonRequest, SeeOther, posted


@require_http_methods(["GET", "HEAD", "POST"])
def bank_person(request: PersonRequest, pk: int) -> HttpResponse:
    bank = access.get_bank(request.user, pk, Role.ADMIN)
    form = forms.WhoseForm(posted(request))
    if request.method != "POST" or not form.is_valid():
        return _page(request, bank, form)
    assert form.person is not None  # it is valid
    try:
        changed = person.mark(actor=request.user, bank=bank, person=form.person)
    except Refusal as refusal:
        form.add_error(refusal.field or None, str(refusal))
        bank.refresh_from_db()
        return _page(request, bank, form, status=409)
    name = form.person.display_name
    messages.success(request, f"This is {name}'s bank{'' if changed else ' already'}.")
    return SeeOther(reverse("banks:bank-person", args=[pk]))


@require_POST
def bank_person_clear(request: PersonRequest, pk: int) -> HttpResponse:
    bank = access.get_bank(request.user, pk, Role.ADMIN)
    try:
        changed = person.clear(actor=request.user, bank=bank)
    except Refusal as refusal:
        messages.error(request, str(refusal))
    else:
        messages.success(request, f"It is a project's bank{'' if changed else ' already'}.")
    return SeeOther(reverse("banks:bank-person", args=[pk]))


def _page(request: PersonRequest, bank: Bank, form: forms.WhoseForm, status: int = 0) -> HttpResponse:
    about = AdminEvent.objects.filter(
        bank=bank, what__in=[AdminEvent.What.PERSON_NAMED, AdminEvent.What.PERSON_CLEARED]
    )
    context = {
        "bank": bank,
        "form": form,
        "hidden_from": person.hidden_from(bank),
        "events": selectors_people.latest_events(about),
    }
    return render(request, "banks/bank_person.html", context, status=status or (422 if form.errors else 200))

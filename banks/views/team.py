"""The team: who has which role where, accounts that an operator shuts or opens, and every change that was made."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from banks import access, forms, selectors_groups, selectors_people
from banks.forms_team import InviteForm
from banks.services import team
from banks.services.refusal import Refusal
from banks.views.members import show_link
from memadmin.accounts import factor, identities, limits, people
from memadmin.filtering import number_of
from memadmin.htmx import PersonRequest, SeeOther, posted
from memadmin.paging import Cursor


@require_safe
def person_list(request: PersonRequest) -> HttpResponse:
    reach = access.require_reach(request.user, "team")
    q = _text(request, "q")
    context = {
        "people": selectors_people.person_page(request.user, q=q, after=_text(request, "after")),
        "shown_roles": f":{selectors_people.ROLES_SHOWN}",
        "most_roles": selectors_people.ROLES_SHOWN,
        "q": q,
        "reach": reach,
        "events": selectors_people.latest_events(selectors_people.events_seen_by(request.user)),
    }
    return render(request, "banks/person_list.html", context)


@require_safe
def person_detail(request: PersonRequest, pk: int) -> HttpResponse:
    person = selectors_people.get_person(request.user, pk)
    roles = selectors_people.roles_of(person, after=number_of(request.GET.get("after", "")))
    more = len(roles) > selectors_people.PER_PAGE
    roles = roles[: selectors_people.PER_PAGE]
    context = {
        "person": person,
        "roles": roles,
        "after": roles[-1].pk if more else "",
        "groups": selectors_groups.groups_with_roles(person),
        "invitation": selectors_people.open_invitation(person),
        "may_be_invited": people.may_be_invited(person),
        "events": selectors_people.latest_events(selectors_people.events_about(person)),
        "locked_until": limits.locked_until(person),
        "has_factor": factor.has_one(person),
        "identities": identities.of(person),
        "identity_reason": forms.ReasonForm(auto_id="identity-%s"),
        "factor_reason": forms.ReasonForm(auto_id="factor-%s"),
        "reason": forms.ReasonForm(auto_id="account-%s"),
        "operator_reason": forms.ReasonForm(auto_id="operator-%s"),
    }
    return render(request, "banks/person_detail.html", context)


@require_POST
def person_close(request: PersonRequest, pk: int) -> HttpResponse:
    return _switch(request, pk, team.close, "The account is closed, and signed out everywhere.")


@require_POST
def person_reopen(request: PersonRequest, pk: int) -> HttpResponse:
    return _switch(request, pk, team.reopen, "The account is open again, with the roles it had.")


@require_POST
def person_invite(request: PersonRequest, pk: int) -> HttpResponse:
    person = selectors_people.get_person(request.user, pk)
    back = reverse("banks:person-detail", args=[pk])
    try:
        link = team.invite_again(actor=request.user, person=person)
    except Refusal as refusal:
        messages.error(request, f"No link was made. {refusal}")
        return SeeOther(back)
    return show_link(request, link.url(request.build_absolute_uri("/")), person, back)


@require_POST
def person_factor_reset(request: PersonRequest, pk: int) -> HttpResponse:
    return _switch(request, pk, team.reset_factor, "Their second factor is gone, and they are signed out everywhere.")


@require_POST
def person_identity_end(request: PersonRequest, pk: int) -> HttpResponse:
    return _switch(request, pk, team.end_identities, "The company's sign-in opens this account no more.")


@require_POST
def person_unlock(request: PersonRequest, pk: int) -> HttpResponse:
    person = selectors_people.get_person(request.user, pk)
    team.unlock(actor=request.user, person=person)
    messages.success(request, "Wrong passwords and codes count from nothing again.")
    return SeeOther(reverse("banks:person-detail", args=[pk]))


@require_http_methods(["GET", "HEAD", "POST"])
def person_new(request: PersonRequest) -> HttpResponse:
    """Somebody new without a role of their own. The link is shown in the answer to the POST alone."""
    access.require_reach(request.user, "operator")
    form = InviteForm(posted(request))
    if request.method != "POST" or not form.is_valid():
        return render(request, "banks/person_new.html", {"form": form}, status=422 if form.errors else 200)
    said = form.cleaned_data
    try:
        link = team.invite(
            actor=request.user,
            username=said["login"],
            email=said["login"] if "@" in said["login"] else "",
            name=said["name"],
            group=said["group"],
        )
    except Refusal as refusal:
        form.add_error(refusal.field or None, str(refusal))
        return render(request, "banks/person_new.html", {"form": form}, status=422)
    back = reverse("banks:person-detail", args=[link.user.pk])
    return show_link(request, link.url(request.build_absolute_uri("/")), link.user, back)


@require_POST
def person_operator(request: PersonRequest, pk: int) -> HttpResponse:
    return _switch(request, pk, team.make_operator, "They may everything from now on.")


@require_POST
def person_operator_end(request: PersonRequest, pk: int) -> HttpResponse:
    return _switch(request, pk, team.end_operator, "They are no operator any more; their roles are what is left.")


@require_safe
def event_list(request: PersonRequest) -> HttpResponse:
    access.require_reach(request.user, "team")
    events = selectors_people.events_seen_by(request.user)
    page = selectors_people.event_page(events, Cursor.parse(request.GET.get("page", "")))
    return render(request, "banks/event_list.html", {"page": page})


def _switch(request: PersonRequest, pk: int, switch: Callable[..., bool], done: str) -> HttpResponse:
    person = selectors_people.get_person(request.user, pk)
    form = forms.ReasonForm(request.POST)
    try:
        if not form.is_valid():
            messages.error(request, f"Nothing was changed. {form.problem}")
        elif switch(actor=request.user, person=person, reason=form.cleaned_data["reason"]):
            messages.success(request, done)
        else:
            messages.info(request, "That is how it was already.")
    except Refusal as refusal:
        messages.error(request, f"Nothing was changed. {refusal}")
    return SeeOther(reverse("banks:person-detail", args=[pk]))


def _text(request: PersonRequest, name: str) -> str:
    return request.GET.get(name, "").replace("\x00", "").strip()[:150]

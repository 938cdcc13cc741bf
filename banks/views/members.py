"""Members of a bank or of a whole server: who has which role, and who may change it."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from banks import access, forms, selectors_groups, selectors_people
from banks.forms_team import GroupRoleForm
from banks.models import Bank, Membership, Role, Server
from banks.services import members
from banks.services.refusal import Refusal
from memadmin.htmx import PersonRequest, SeeOther

UNREADABLE = "Nothing was changed. The form could not be read: load the page again."


@require_safe
def bank_members(request: PersonRequest, pk: int) -> HttpResponse:
    return member_page(request, access.get_bank(request.user, pk, Role.ADMIN))


@require_safe
def server_members(request: PersonRequest, pk: int) -> HttpResponse:
    return member_page(request, access.get_server(request.user, pk))


@require_POST
def bank_member_add(request: PersonRequest, pk: int) -> HttpResponse:
    return _add(request, access.get_bank(request.user, pk, Role.ADMIN))


@require_POST
def server_member_add(request: PersonRequest, pk: int) -> HttpResponse:
    return _add(request, access.get_server(request.user, pk))


@require_POST
def member_role(request: PersonRequest, pk: int) -> HttpResponse:
    membership = selectors_people.get_membership(request.user, pk)
    form = forms.RoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, UNREADABLE)
        return _back(membership)
    role, name = form.cleaned_data["role"], membership.user.display_name
    try:
        changed = members.change_role(
            actor=request.user, membership=membership, was=form.cleaned_data["was"], role=role
        )
    except Refusal as refusal:
        messages.error(request, str(refusal))
        return _back(membership)
    messages.success(request, f"{name} is {role.label} here{'' if changed else ' already'}.")
    return _back(membership)


@require_POST
def member_remove(request: PersonRequest, pk: int) -> HttpResponse:
    membership = selectors_people.get_membership(request.user, pk)
    form = forms.RoleForm({"was": request.POST.get("was"), "role": Role.VIEWER})
    if not form.is_valid():
        messages.error(request, UNREADABLE)
        return _back(membership)
    try:
        members.remove(actor=request.user, membership=membership, was=form.cleaned_data["was"])
    except Refusal as refusal:
        messages.error(request, str(refusal))
        return _back(membership)
    name = membership.user.display_name
    messages.success(request, f"{name} has no role here any more. What they decided stays.")
    # Who took their own role away may no longer see this page.
    return SeeOther("/") if membership.user == request.user else _back(membership)


def _add(request: PersonRequest, on: Bank | Server) -> HttpResponse:
    form = forms.MemberForm(request.POST)
    if not form.is_valid():
        return member_page(request, on, form)
    said, actor = form.cleaned_data, request.user
    try:
        if form.person is not None:
            members.add(actor=actor, on=on, person=form.person, role=said["role"])
            messages.success(request, f"{form.person.display_name} is {said['role'].label} here.")
            return SeeOther(address(on))
        login = said["login"]
        email = login if "@" in login else ""
        added = members.invite(actor=actor, on=on, username=login, email=email, name=said["name"], role=said["role"])
    except Refusal as refusal:
        form.add_error(refusal.field or None, str(refusal))
        return member_page(request, on, form)
    assert added.link is not None  # somebody new
    # Shown in this answer alone: it is stored nowhere, not even in the session.
    return show_link(request, added.link.url(request.build_absolute_uri("/")), added.membership.user, address(on))


def show_link(request: PersonRequest, link: str, person: object, back: str) -> HttpResponse:
    return render(request, "banks/member_invited.html", {"link": link, "person": person, "back": back})


def member_page(
    request: PersonRequest,
    on: Bank | Server,
    form: forms.MemberForm | None = None,
    *,
    group_form: GroupRoleForm | None = None,
) -> HttpResponse:
    bank = on if isinstance(on, Bank) else None
    context = {
        "on": on,
        "bank": bank,
        "server": bank.server if bank else on,
        "members": selectors_people.members_of(on, after=request.GET.get("after", "")[:150].replace("\x00", "")),
        "inherited": selectors_people.members_of_server_of(bank) if bank else [],
        "groups": selectors_groups.roles_here(on),
        "inherited_groups": selectors_groups.roles_of_server_of(bank) if bank else [],
        "most_names": f":{selectors_groups.NAMES_SHOWN}",
        "operators": selectors_people.operators(),
        "roles": Role.choices,
        "form": form or forms.MemberForm(),
        "group_form": group_form or GroupRoleForm(auto_id="group-%s"),
        "events": selectors_people.latest_events(selectors_people.events_of(on)),
        "here": address(on),
    }
    return render(request, "banks/member_list.html", context, status=422 if form or group_form else 200)


def address(on: Bank | Server) -> str:
    return reverse("banks:bank-members" if isinstance(on, Bank) else "banks:server-members", args=[on.pk])


def _back(membership: Membership) -> SeeOther:
    return SeeOther(address(members.target_of(membership)))

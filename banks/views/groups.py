"""Groups of people: who is in one is an operator's business, its role on a bank or server that one's admins'."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from banks import access, forms, selectors_groups, selectors_people
from banks.forms_team import GroupForm, GroupMemberForm, GroupRoleForm
from banks.models import AdminEvent, Bank, Group, Role, Server
from banks.services import groups, members
from banks.services.refusal import Refusal
from banks.views.members import UNREADABLE, address, member_page
from memadmin.htmx import PersonRequest, SeeOther, posted


@require_http_methods(["GET", "HEAD", "POST"])
def group_list(request: PersonRequest) -> HttpResponse:
    access.require_reach(request.user, "operator")
    form = GroupForm(posted(request))
    if request.method == "POST" and form.is_valid():
        try:
            made = groups.make(actor=request.user, name=form.cleaned_data["name"])
        except Refusal as refusal:
            form.add_error(refusal.field or None, str(refusal))
        else:
            messages.success(request, f"The group “{made.name}” is there. Nobody is in it yet.")
            return SeeOther(_page_of(made))
    after = request.GET.get("after", "").replace("\x00", "")[:100]
    context = {"page": selectors_groups.group_page(after=after), "form": form}
    return render(request, "banks/group_list.html", context, status=422 if form.errors else 200)


@require_safe
def group_detail(request: PersonRequest, pk: int) -> HttpResponse:
    return _page(request, selectors_groups.get_group(request.user, pk))


@require_POST
def group_rename(request: PersonRequest, pk: int) -> HttpResponse:
    group = selectors_groups.get_group(request.user, pk)
    form = GroupForm(request.POST, auto_id="rename-%s")
    if not form.is_valid():
        return _page(request, group, rename=form)
    try:
        groups.rename(actor=request.user, group=group, name=form.cleaned_data["name"])
    except Refusal as refusal:
        form.add_error(refusal.field or None, str(refusal))
        return _page(request, group, rename=form)
    return SeeOther(_page_of(group))


@require_POST
def group_remove(request: PersonRequest, pk: int) -> HttpResponse:
    group = selectors_groups.get_group(request.user, pk)
    try:
        groups.remove(actor=request.user, group=group)
    except Refusal as refusal:
        messages.error(request, f"Nothing was changed. {refusal}")
        return SeeOther(reverse("banks:group-detail", args=[pk]))
    messages.success(request, f"The group “{group.name}” is gone.")
    return SeeOther(reverse("banks:group-list"))


@require_POST
def group_add(request: PersonRequest, pk: int) -> HttpResponse:
    group = selectors_groups.get_group(request.user, pk)
    form = GroupMemberForm(request.POST)
    if not form.is_valid():
        return _page(request, group, form=form)
    assert form.person is not None  # it is valid
    try:
        added = groups.join(actor=request.user, group=group, person=form.person)
    except Refusal as refusal:
        form.add_error(refusal.field or None, str(refusal))
        return _page(request, group, form=form)
    messages.success(request, f"{form.person.display_name} is in it{'' if added else ' already'}.")
    return SeeOther(_page_of(group))


@require_POST
def member_remove(request: PersonRequest, pk: int) -> HttpResponse:
    member = selectors_groups.get_member(request.user, pk)
    groups.leave(actor=request.user, member=member)
    messages.success(request, f"{member.user.display_name} is not in it any more. What they decided stays.")
    return SeeOther(_page_of(member.group))


@require_POST
def bank_group_add(request: PersonRequest, pk: int) -> HttpResponse:
    return _give(request, access.get_bank(request.user, pk, Role.ADMIN))


@require_POST
def server_group_add(request: PersonRequest, pk: int) -> HttpResponse:
    return _give(request, access.get_server(request.user, pk))


@require_POST
def role_change(request: PersonRequest, pk: int) -> HttpResponse:
    held = selectors_groups.get_role(request.user, pk)
    back = SeeOther(address(members.target_of(held)))
    form = forms.RoleForm(request.POST)
    if not form.is_valid():
        messages.error(request, UNREADABLE)
        return back
    role = form.cleaned_data["role"]
    try:
        changed = groups.change_role(actor=request.user, held=held, was=form.cleaned_data["was"], role=role)
    except Refusal as refusal:
        messages.error(request, str(refusal))
        return back
    messages.success(request, f"Everybody in “{held.group}” is {role.label} here{'' if changed else ' already'}.")
    return back


@require_POST
def role_take(request: PersonRequest, pk: int) -> HttpResponse:
    held = selectors_groups.get_role(request.user, pk)
    on = members.target_of(held)
    form = forms.RoleForm({"was": request.POST.get("was"), "role": Role.VIEWER})
    if not form.is_valid():
        messages.error(request, UNREADABLE)
        return SeeOther(address(on))
    try:
        groups.take(actor=request.user, held=held, was=form.cleaned_data["was"])
    except Refusal as refusal:
        messages.error(request, str(refusal))
        return SeeOther(address(on))
    messages.success(request, f"“{held.group}” has no role here any more. What its people decided stays.")
    # Who had their right by this group may no longer see this page.
    return SeeOther(address(on) if _still_admin(request, on) else "/")


def _give(request: PersonRequest, on: Bank | Server) -> HttpResponse:
    form = GroupRoleForm(request.POST, auto_id="group-%s")
    if not form.is_valid():
        return member_page(request, on, group_form=form)
    said = form.cleaned_data
    try:
        groups.give(actor=request.user, on=on, group=said["group"], role=said["role"])
    except Refusal as refusal:
        form.add_error(refusal.field or None, str(refusal))
        return member_page(request, on, group_form=form)
    messages.success(request, f"Everybody in “{said['group']}” is {said['role'].label} here.")
    return SeeOther(address(on))


def _still_admin(request: PersonRequest, on: Bank | Server) -> bool:
    has = access.role_on(request.user, on) if isinstance(on, Bank) else access.role_on_server(request.user, on)
    return has == Role.ADMIN


def _page(
    request: PersonRequest, group: Group, *, form: GroupMemberForm | None = None, rename: GroupForm | None = None
) -> HttpResponse:
    after = request.GET.get("after", "")
    wrong = form is not None or rename is not None
    context = {
        "group": group,
        "members": selectors_groups.members_of(
            group, after=int(after) if after.isascii() and after.isdigit() and len(after) < 18 else 0
        ),
        "roles": selectors_groups.roles_of(group),
        "most": selectors_groups.PER_PAGE,
        "form": form or GroupMemberForm(),
        "rename": rename or GroupForm({"name": group.name}, auto_id="rename-%s"),
        "events": selectors_people.latest_events(AdminEvent.objects.filter(group=group)),
    }
    return render(request, "banks/group_detail.html", context, status=422 if wrong else 200)


def _page_of(group: Group) -> str:
    return reverse("banks:group-detail", args=[group.pk])

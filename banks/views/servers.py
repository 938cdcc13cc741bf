"""Servers: what they say, what waits for them, and what an admin may change about them."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from banks import access, forms, selectors_people, selectors_servers
from banks.models import AdminEvent, Server
from banks.services import ask, servers
from banks.services.refusal import ChangedMeanwhile, Refusal
from memadmin.htmx import PersonRequest, SeeOther, posted, wants_fragment

STOP_POLLING = 286  # htmx: swap this and ask no more
ABOUT_SERVERS = [what for what in AdminEvent.What if what.value.split("-")[0] in {"server", "key", "writes"}]


@require_safe
def server_list(request: PersonRequest) -> HttpResponse:
    reach = access.require_reach(request.user, "servers")
    rows = selectors_servers.server_rows(request.user)
    events = selectors_people.events_seen_by(request.user).filter(what__in=ABOUT_SERVERS)
    context = {
        "rows": rows[: selectors_servers.SERVERS_SHOWN],
        "more": len(rows) > selectors_servers.SERVERS_SHOWN,
        "operator": reach.operator,
        "events": selectors_people.latest_events(events),
    }
    return render(request, "banks/server_list.html", context)


@require_safe
def server_detail(request: PersonRequest, pk: int) -> HttpResponse:
    server = access.get_server(request.user, pk)
    if wants_fragment(request):
        return _state(request, server)
    about = AdminEvent.objects.filter(server=server, what__in=ABOUT_SERVERS)
    paused = about.filter(what=AdminEvent.What.WRITES_PAUSED).order_by("-at", "-pk").first()
    context = {
        **_state_of(server),
        "paused": paused if server.writes_paused else None,
        "events": selectors_people.latest_events(about),
        "reason": forms.ReasonForm(auto_id="switch-%s"),
        "operator": request.user.is_superuser,
        "held": servers.what_holds(server) if request.user.is_superuser else [],
    }
    return render(request, "banks/server_detail.html", context)


@sensitive_variables("form")
@sensitive_post_parameters("key")
@require_http_methods(["GET", "HEAD", "POST"])
def server_new(request: PersonRequest) -> HttpResponse:
    access.require_reach(request.user, "operator")
    form = forms.ServerForm(posted(request))
    if request.method != "POST" or not form.is_valid():
        return _form(request, form)
    said = form.cleaned_data
    try:
        server = servers.add(
            actor=request.user,
            name=said["name"],
            address=said["address"],
            other=said["other"],
            namespace=said["namespace"],
            api_key=said["key"],
            connect_timeout=said["connect_timeout"],
            read_timeout=said["read_timeout"],
        )
    except Refusal as refusal:
        form.add_error(refusal.field or None, str(refusal))
        return _form(request, form)
    ask.ask(actor=request.user, server=server)
    messages.success(request, "The server is registered, and is being asked.")
    return SeeOther(reverse("banks:server-detail", args=[server.pk]))


@require_http_methods(["GET", "HEAD", "POST"])
def server_edit(request: PersonRequest, pk: int) -> HttpResponse:
    server = access.get_server(request.user, pk)
    values = servers.values_of(server)
    initial = {**forms.tidy(values), "other": "\n".join(values["other_urls"])}
    form = forms.ServerEditForm(posted(request), initial=initial)
    if request.method != "POST" or not form.is_valid():
        return _form(request, form, server)
    try:
        changed = servers.change(
            actor=request.user, server=server, shown=request.POST.get("shown", ""), **form.cleaned_data
        )
    except ChangedMeanwhile as refusal:
        form.add_error(None, str(refusal))
        server.refresh_from_db()
        return _form(request, form, server, status=409)
    except Refusal as refusal:
        form.add_error(refusal.field or None, str(refusal))
        return _form(request, form, server)
    messages.success(request, "Stored." if changed else "Nothing was different.")
    return SeeOther(reverse("banks:server-detail", args=[pk]))


@sensitive_variables("form")
@sensitive_post_parameters("key")
@require_http_methods(["GET", "HEAD", "POST"])
def server_key(request: PersonRequest, pk: int) -> HttpResponse:
    server = access.get_server(request.user, pk)
    form = forms.KeyForm(posted(request))
    if request.method != "POST" or not form.is_valid():
        status = 422 if form.errors else 200
        return render(request, "banks/server_key.html", {"form": form, "server": server}, status=status)
    if not form.cleaned_data["key"] and not form.cleaned_data["none"]:
        messages.info(request, "The stored key was kept.")
    elif servers.replace_key(actor=request.user, server=server, api_key=form.cleaned_data["key"]):
        ask.ask(actor=request.user, server=server)
        messages.success(request, "Stored. The server is being asked with it.")
    else:
        messages.info(request, "That is how it was already.")
    return SeeOther(reverse("banks:server-detail", args=[pk]))


@require_POST
def server_ask(request: PersonRequest, pk: int) -> HttpResponse:
    server = access.get_server(request.user, pk)
    ask.ask(actor=request.user, server=server)
    return _state(request, server) if wants_fragment(request) else SeeOther(reverse("banks:server-detail", args=[pk]))


@require_POST
def server_pause(request: PersonRequest, pk: int) -> HttpResponse:
    return _switch(request, pk, servers.pause, "Writes are paused. What is decided is stored and waits.")


@require_POST
def server_resume(request: PersonRequest, pk: int) -> HttpResponse:
    return _switch(request, pk, servers.resume, "Writes go on: what waited is sent in its order.")


@require_POST
def server_remove(request: PersonRequest, pk: int) -> HttpResponse:
    """Only for operators, and only with the server's name typed: forgetting it takes its roles along."""
    access.require_reach(request.user, "operator")
    server = access.get_server(request.user, pk)
    back = SeeOther(reverse("banks:server-detail", args=[pk]))
    if request.POST.get("name", "").strip() != server.name:
        messages.error(request, "Nothing was removed. Type the name of the server as it stands here.")
        return back
    try:
        servers.remove(actor=request.user, server=server)
    except Refusal as refusal:
        messages.error(request, f"It was not removed. {refusal}")
        return back
    messages.success(request, f"{server.name} is no longer registered. Nothing was said to the server itself.")
    return SeeOther(reverse("banks:server-list"))


def _switch(request: PersonRequest, pk: int, switch: Callable[..., bool], done: str) -> HttpResponse:
    server = access.get_server(request.user, pk)
    form = forms.ReasonForm(request.POST)
    if not form.is_valid():
        messages.error(request, f"Nothing was changed. {form.problem}")
    elif switch(actor=request.user, server=server, reason=form.cleaned_data["reason"]):
        messages.success(request, done)
    else:
        messages.info(request, "That is how it was already: somebody was quicker.")
    return SeeOther(reverse("banks:server-detail", args=[pk]))


def _state_of(server: Server) -> dict[str, Any]:
    return {"server": server, "row": selectors_servers.server_row(server), "asking": ask.asking(server)}


def _state(request: PersonRequest, server: Server) -> HttpResponse:
    """The part of the page that polls while the server is being asked."""
    context = {**_state_of(server), "fragment": True}
    status = 200 if context["asking"] or request.method == "POST" else STOP_POLLING
    return render(request, "banks/_server_state.html", context, status=status)


def _form(
    request: PersonRequest, form: forms.ServerFields, server: Server | None = None, status: int = 0
) -> HttpResponse:
    context: dict[str, Any] = {"form": form, "server": server}
    if server is not None:
        events = AdminEvent.objects.filter(server=server, what__in=ABOUT_SERVERS)
        context |= {"shown": servers.seen(server), "events": selectors_people.latest_events(events)}
    return render(request, "banks/server_form.html", context, status=status or (422 if form.errors else 200))

"""The addresses that the team of a server is told at, and how each message ended."""

from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods, require_POST

from banks import access
from banks.models import Server
from banks.services.refusal import Refusal
from memadmin.htmx import PersonRequest, SeeOther
from reviews.forms_notices import OutgoingForm
from reviews.models import NoticeChoice, OutgoingDelivery, OutgoingHook
from reviews.services import outgoing

LATEST = 50


@sensitive_variables()
@sensitive_post_parameters("url")
@require_http_methods(["GET", "HEAD", "POST"])
def outgoing_list(request: PersonRequest, pk: int) -> HttpResponse:
    """A new secret is in the answer to the POST alone, as a token is."""
    server = access.get_server(request.user, pk)
    if request.method != "POST":
        usual = NoticeChoice(time_zone=settings.TIME_ZONE)
        return _page(request, server, OutgoingForm(initial={"hour": usual.hour, "time_zone": usual.time_zone}))
    form = OutgoingForm(request.POST)
    if not form.is_valid():
        return _page(request, server, form, status=422)
    said: dict[str, Any] = form.cleaned_data
    try:
        secret = outgoing.add(actor=request.user, server=server, **said)
    except Refusal as refusal:
        form.add_error(refusal.field or None, str(refusal))
        return _page(request, server, form, status=422)
    return render(request, "reviews/outgoing_made.html", {"server": server, "name": said["name"], "secret": secret})


@require_POST
def outgoing_remove(request: PersonRequest, pk: int) -> HttpResponse:
    hook = OutgoingHook.objects.select_related("server").filter(pk=pk).first()
    if hook is None:
        raise Http404("No such address.")
    access.get_server(request.user, hook.server_id)
    if outgoing.remove(actor=request.user, hook=hook):
        messages.success(request, f"Nothing is sent to “{hook.name}” any more.")
    else:
        messages.info(request, f"“{hook.name}” was removed already.")
    return SeeOther(reverse("reviews:outgoing-list", args=[hook.server_id]))


def _page(request: PersonRequest, server: Server, form: OutgoingForm, status: int = 200) -> HttpResponse:
    deliveries = OutgoingDelivery.objects.filter(hook__server=server).exclude(state=OutgoingDelivery.State.EMPTY)
    context = {
        "server": server,
        "form": form,
        "hooks": OutgoingHook.objects.filter(server=server, removed_at=None),
        "deliveries": deliveries.select_related("hook").defer("body")[:LATEST],
    }
    return render(request, "reviews/outgoing_list.html", context, status=status)

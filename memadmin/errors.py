"""Error answers: a whole page for a page, one short fragment for a fragment. They say what happened and what to do."""

import logging
from dataclasses import dataclass

from django.conf import settings
from django.core.exceptions import RequestDataTooBig, TooManyFieldsSent, TooManyFilesSent
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render
from django.template.defaultfilters import filesizeformat
from django.utils import timezone
from django.views.decorators.csrf import requires_csrf_token
from django.views.decorators.debug import sensitive_variables

from banks.access import NotEnough, admins_of
from banks.models import Bank, Role, Server
from memadmin.accounts.models import User
from memadmin.htmx import page_of, wants_fragment

logger = logging.getLogger(__name__)

LAST_RESORT = "<!doctype html><html lang=en><title>{title}</title><h1>{title}</h1><p>Request {request_id}</p>"


@dataclass(frozen=True)
class Problem:
    """What an error page says. `text` is plain text; `bank_id` and `ask` are shown in their own places."""

    status: int
    title: str
    text: str = ""
    bank_id: str = ""
    ask: str = ""
    reload: bool = False  # offer to load the page again instead of the way to the overview


def respond(request: HttpRequest, problem: Problem) -> HttpResponse:
    if request.path_info.startswith("/api/"):  # a program asks, and reads no page
        said = {"detail": f"{problem.title} {problem.text}".strip()}
        return JsonResponse(said, status=problem.status, headers={"Cache-Control": "no-store"})
    request_id = getattr(request, "request_id", "")
    context = {"problem": problem, "request_id": request_id, "now": timezone.now(), "page": page_of(request)}
    template = "errors/_problem.html" if wants_fragment(request) else "errors/problem.html"
    try:
        return render(request, template, context, status=problem.status)
    except Exception:  # the page itself may need what is broken
        logger.exception("the error page for %s could not be rendered", problem.status)
        return HttpResponse(LAST_RESORT.format(title=problem.title, request_id=request_id), status=problem.status)


@requires_csrf_token
def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    if isinstance(exception, RequestDataTooBig | TooManyFieldsSent | TooManyFilesSent):
        return respond(request, _too_much())
    return respond(request, Problem(400, "That request could not be read.", "Nothing was changed."))


@requires_csrf_token
def forbidden(request: HttpRequest, exception: Exception) -> HttpResponse:
    if isinstance(exception, NotEnough):
        return respond(request, _not_enough(exception))
    return respond(request, Problem(403, "You may not do that.", "Nothing was changed."))


@requires_csrf_token
def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    text = "It does not exist, or you have no role on its bank. A bank admin can give you one."
    return respond(request, Problem(404, "There is nothing here for you.", text))


def method_not_allowed(request: HttpRequest, response: HttpResponseBase) -> HttpResponse:
    allowed = response["Allow"]
    answer = respond(request, Problem(405, "That address does not take this kind of request.", f"It takes {allowed}."))
    answer["Allow"] = allowed
    return answer


def too_many(request: HttpRequest) -> HttpResponse:
    return respond(request, Problem(429, "Too many tries.", "Please wait some minutes, then try again.", reload=True))


@requires_csrf_token
@sensitive_variables()
def server_error(request: HttpRequest) -> HttpResponse:
    text = "It is our fault, and it is in the log under the number below. What was stored before is still there."
    return respond(request, Problem(500, "Something went wrong here.", text))


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """Mostly a tab that was open while somebody signed in again in another one."""
    text = "You signed in again elsewhere, or this page is too old. Nothing was changed: load it again and repeat."
    return respond(request, Problem(403, "This page is out of date.", text, reload=True))


def _too_much() -> Problem:
    """Raised where the body is read first, inside the CSRF check: no view of ours has seen the form."""
    size = filesizeformat(settings.DATA_UPLOAD_MAX_MEMORY_SIZE).replace("\xa0", " ")
    fields = settings.DATA_UPLOAD_MAX_NUMBER_FIELDS
    text = f"It holds up to {size} and {fields} fields. Nothing was changed. Send less at once."
    return Problem(413, "That is more than one form can hold.", text)


def _not_enough(refusal: NotEnough) -> Problem:
    act = "decide on it" if refusal.needs == Role.REVIEWER else "administer it"
    kind, bank_id = ("bank", refusal.on.bank_id) if isinstance(refusal.on, Bank) else ("server", "")
    return Problem(
        403,
        f"You can read this {kind}, but not {act}.",
        f"Your role on it is {refusal.has.label}; this needs {refusal.needs.label}. Nothing was changed.",
        bank_id=bank_id,
        ask=_who_can_help(refusal.on),
    )


def _who_can_help(on: Bank | Server) -> str:
    """The names of up to three admins of the bank or server, for "Ask … for access"."""
    admins = User.objects.filter(admins_of(on)).order_by("pk")[:3]
    return " or ".join(dict.fromkeys(person.display_name for person in admins))

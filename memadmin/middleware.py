"""Rules for every answer: who may see it, whether it is a page or a fragment, how a failure looks."""

import secrets
import time
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.http import HttpRequest, HttpResponse, HttpResponseBase, HttpResponseRedirect
from django.shortcuts import resolve_url
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails
from structlog.contextvars import bound_contextvars

from memadmin import errors, log
from memadmin.accounts import factor, policy, presence
from memadmin.accounts.models import User
from memadmin.htmx import page_of


class RequestIdMiddleware:
    """A short id that an error page shows and each line of the log carries, those of the workers too."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request_id = f"{secrets.token_hex(2)}-{secrets.token_hex(2)}"
        request.request_id = request_id  # type: ignore[attr-defined]  # ours
        began = time.monotonic()
        with bound_contextvars(request=request_id):
            answer = self.get_response(request)
            # The route, not the address: addresses hold what people search for, and secrets.
            route = request.resolver_match.view_name if request.resolver_match else "none"
            about = {"route": route, "status": answer.status_code, "took_ms": round((time.monotonic() - began) * 1000)}
            log.requests.info("%s %s: %d", request.method, route, answer.status_code, extra=about)
        return answer


class SignInMiddleware(LoginRequiredMiddleware):
    """Every view needs a person unless it says `login_not_required`.

    A fragment request is told to load the sign-in page in the browser: a followed redirect would swap that page
    into a card. After signing in the person is back on the page, and a post is not repeated.
    """

    def handle_no_permission(  # type: ignore[override]  # the 200 with HX-Redirect is no subclass of a 302
        self, request: HttpRequest, view_func: Callable[..., Any]
    ) -> HttpResponseBase:
        query = urlencode({self.get_redirect_field_name(view_func): page_of(request)})
        to = f"{resolve_url(settings.LOGIN_URL)}?{query}"
        if HtmxDetails(request):
            return HttpResponseClientRedirect(to)
        return HttpResponseRedirect(to)


class SecondFactorMiddleware:
    """Who must have a second factor (MEMADMIN_SECOND_FACTOR) does nothing else before this session has shown it."""

    # Where it is set up or shown, and the way out.
    OPEN = frozenset({"account_logout", "account_reauthenticate", "mfa_reauthenticate", "account_set_password"})

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view_func: Callable[..., Any], args: Any, kwargs: Any
    ) -> HttpResponseBase | None:
        person, match = request.user, request.resolver_match
        if settings.SECOND_FACTOR == "optional" or not isinstance(person, User):
            return None
        name = match.view_name if match else ""
        if not getattr(view_func, "login_required", True) or name in self.OPEN or name.startswith("accounts:factor"):
            return None
        if factor.shown_in(request) or not policy.needs_factor(person):
            return None
        if factor.has_one(person):
            to = f"{reverse('mfa_reauthenticate')}?{urlencode({'next': page_of(request)})}"
        else:
            to = reverse("accounts:factor-add")
        return HttpResponseClientRedirect(to) if HtmxDetails(request) else HttpResponseRedirect(to)


class PresenceMiddleware:
    """Notes that a person was here, after the answer was made. Whose session was not looked at is not looked up."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        person = getattr(request, "_cached_user", None)  # Django's own place for it; request.user would ask for it
        if isinstance(person, User) and person.token is None:
            presence.note(person)
        return response


class FragmentMiddleware:
    """Pages and their fragments share URLs: caches must know, and nothing of a bank is kept by a browser.

    An error page that answers an htmx request never lands where the fragment was meant to: its notice goes to the
    page's alert region. Views that answer an error with a fragment of their own say so by `HX-Retarget`.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if response.status_code == 405 and not response.content:
            response = errors.method_not_allowed(request, response)
        patch_vary_headers(response, ("HX-Request",))
        if not response.has_header("Cache-Control"):
            response["Cache-Control"] = "no-store"
        if response.status_code >= 400 and "HX-Request" in request.headers and not response.has_header("HX-Retarget"):
            response["HX-Retarget"] = "#alerts"
            response["HX-Reswap"] = "innerHTML"
            response["HX-Reselect"] = ".sheet, .notice"
        return response

"""Pages and fragments: one answer to "who is asking", and what an htmx answer needs beyond a page's."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.shortcuts import resolve_url
from django.utils.http import url_has_allowed_host_and_scheme, urlencode
from django_htmx.http import HttpResponseClientRedirect
from django_htmx.middleware import HtmxDetails

from memadmin.accounts.models import User

P = ParamSpec("P")


class PersonRequest(HttpRequest):
    """A request of a signed-in person, as the views behind `signed_in` get it."""

    htmx: HtmxDetails
    user: User


def wants_fragment(request: HttpRequest) -> bool:
    """Whether a part of the page is asked for. A history restore carries htmx's header and wants the whole page."""
    details = HtmxDetails(request)  # not request.htmx: an error may come before its middleware ran
    return bool(details) and not details.boosted and not details.history_restore_request


def page_of(request: HttpRequest) -> str:
    """The path of the page a person stands on: of the fragment's page, not of the fragment; "/" for a POST's."""
    details = HtmxDetails(request)
    if details:
        path = details.current_url_abs_path or "/"
        # "http://us//evil.example/" has our host, but its path alone would be another site.
        return path if path.startswith("/") and url_has_allowed_host_and_scheme(path, allowed_hosts=None) else "/"
    return request.get_full_path() if request.method in {"GET", "HEAD"} else "/"


def signed_in(view: Callable[Concatenate[PersonRequest, P], HttpResponse]) -> Callable[..., HttpResponse]:
    """Only for signed-in people. An htmx request of an ended session is told to leave the page it stands on.

    A redirect would be followed by the browser and the sign-in page would land inside a card; and what is come back to
    is the page, since neither a fragment nor a POST can be.
    """

    @wraps(view)
    def guarded(request: Any, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if request.user.is_authenticated:
            return view(request, *args, **kwargs)
        page = page_of(request)
        if request.htmx:
            return HttpResponseClientRedirect(f"{resolve_url(settings.LOGIN_URL)}?{urlencode({'next': page})}")
        return redirect_to_login(page)

    return guarded

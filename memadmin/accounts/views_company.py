"""The way to the company's sign-in and back. Routed only where one is configured."""

import logging

import requests
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.providers.oauth2.client import OAuth2Error
from allauth.socialaccount.providers.openid_connect.views import callback as allauths
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from memadmin.accounts import company
from memadmin.accounts.views_factor import asked_again
from memadmin.htmx import PersonRequest

logger = logging.getLogger(__name__)

# The issuer does not answer, or not as an issuer does.
BROKEN = (requests.RequestException, OAuth2Error, KeyError, ValueError, TypeError)


@login_not_required
@never_cache
@require_POST
def start(request: HttpRequest) -> HttpResponse:
    return _leave(request, join=None)


@never_cache
@require_POST
@asked_again
def join(request: PersonRequest) -> HttpResponse:
    """Of who is signed in, and has just shown that it is them: the identity opens this account from now on."""
    return _leave(request, join=request.user.pk)


@login_not_required
@never_cache
@require_safe
def callback(request: HttpRequest, provider_id: str) -> HttpResponseBase:
    try:
        answer: HttpResponseBase = allauths(request, provider_id=provider_id)
    except BROKEN:
        logger.exception("the answer of the company's sign-in could not be read")
        return company.refuse(request, "failed")
    return answer


def _leave(request: HttpRequest, *, join: int | None) -> HttpResponse:
    """A page that leads there: a form that is redirected to another site is what the content policy forbids."""
    asked = request.POST.get("next", "")
    known = asked.startswith("/") and url_has_allowed_host_and_scheme(asked, allowed_hosts=None)
    to = asked if known else settings.LOGIN_REDIRECT_URL
    try:
        provider = get_adapter().get_provider(request, settings.OIDC_ID)
        answer = provider.redirect(request, process="login", next_url=to, data={"join": join})
        address = answer["Location"]
    except BROKEN:
        logger.exception("the company's sign-in does not answer")
        return company.refuse(request, "unreachable")
    if not address.startswith(("https://", "http://")):
        return company.refuse(request, "unreachable")
    return render(request, "accounts/company_leave.html", {"address": address, "company": settings.OIDC_NAME})

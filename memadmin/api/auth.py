"""Who asks: the bearer token of the request, and nothing else. Cookies are not looked at."""

import time
from typing import Any

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.views.decorators.debug import sensitive_variables
from ninja.security import HttpBearer

from banks.services.tokens import caller_of
from memadmin.accounts.models import User
from memadmin.api.errors import Refused

# Requests of one address without a token that works. A token that works is never slowed down by a neighbour.
MOST_REFUSED, WINDOW = 30, 300  # seconds
MINUTE = 60


class Bearer(HttpBearer):
    """`request.auth` is the person in whose name the token acts, with what the token leaves of their rights."""

    @sensitive_variables()
    def __call__(self, request: HttpRequest) -> Any:
        person = super().__call__(request)
        if person is None:
            wait = _count(f"api-refused:{_address_of(request)}", MOST_REFUSED, WINDOW)
            told = "Too many requests without a token that works."
        else:
            wait = _count(f"api-token:{person.token.pk}", settings.API_PER_MINUTE, MINUTE)
            told = f"This token has made {settings.API_PER_MINUTE:,} requests in this minute. Nothing was done."
        if wait:
            raise Refused(429, told, headers={"Retry-After": str(wait)})
        return person

    @sensitive_variables()
    def authenticate(self, request: HttpRequest, token: str) -> User | None:
        return caller_of(token.strip())


def _count(what: str, most: int, window: int) -> int:
    """Seconds to wait, 0 while there were not too many. Not exact, and not limited while the cache is away."""
    if not most:
        return 0
    now = int(time.time())
    key = f"{what}:{now // window}"
    count = cache.get(key, 0) + 1
    cache.set(key, count, window)
    return window - now % window if count > most else 0


def _address_of(request: HttpRequest) -> str:
    try:
        return str(get_adapter().get_client_ip(request))
    except PermissionDenied:  # no address can be told: they share one limit
        return ""

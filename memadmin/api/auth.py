"""Who asks: the bearer token of the request, and nothing else. Cookies are not looked at."""

import time
from dataclasses import dataclass
from typing import Any

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.debug import sensitive_variables
from ninja.security import HttpBearer

from banks.services.tokens import caller_of
from memadmin.accounts.models import User
from memadmin.api.errors import Refused

# Requests of one address without a token that works. A token that works is never slowed down by a neighbour.
MOST_REFUSED, WINDOW = 30, 300  # seconds
MINUTE = 60
# Of one token in this minute: how many it may make, how many are left, and for how many seconds.
LIMIT_HEADERS = ("RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")


class Bearer(HttpBearer):
    """`request.auth` is the person in whose name the token acts, with what the token leaves of their rights."""

    @sensitive_variables()
    def __call__(self, request: HttpRequest) -> Any:
        person = super().__call__(request)
        if person is None:
            limit = _count(f"api-refused:{_address_of(request)}", MOST_REFUSED, WINDOW)
            told = "Too many requests without a token that works."
        else:
            limit = _count(f"api-token:{person.token.pk}", settings.API_PER_MINUTE, MINUTE)
            told = f"This token has made {settings.API_PER_MINUTE:,} requests in this minute. Nothing was done."
            request.api_limit = limit  # type: ignore[attr-defined]  # ours
        if limit is not None and limit.left < 0:
            raise Refused(429, told, headers={"Retry-After": str(limit.reset)})
        return person

    @sensitive_variables()
    def authenticate(self, request: HttpRequest, token: str) -> User | None:
        return caller_of(token.strip())


@dataclass(frozen=True)
class Limit:
    """`left`: requests until `reset` (seconds) is over; below 0 = one too many."""

    most: int
    left: int
    reset: int


def tell_limit(request: HttpRequest, response: HttpResponseBase) -> None:
    """Every answer to a token says how many requests it has left."""
    limit: Limit | None = getattr(request, "api_limit", None)
    if limit is not None:
        values = (limit.most, max(limit.left, 0), limit.reset)
        for name, value in zip(LIMIT_HEADERS, values, strict=True):
            response[name] = str(value)


def _count(what: str, most: int, window: int) -> Limit | None:
    """Not exact, and not limited while the cache is away. None: there is no limit."""
    if not most:
        return None
    now = int(time.time())
    key = f"{what}:{now // window}"
    count = cache.get(key, 0) + 1
    cache.set(key, count, window)
    return Limit(most, most - count, window - now % window)


def _address_of(request: HttpRequest) -> str:
    try:
        return str(get_adapter().get_client_ip(request))
    except PermissionDenied:  # no address can be told: they share one limit
        return ""

"""Sign-in by the company's OpenID Connect issuer. Loaded only where one is configured (MEMADMIN_OIDC_ISSUER).

Whose identity it is was proven by the issuer; whose account that opens is decided here. An identity that came before
opens the account it was joined to. A new one joins the one account with the same e-mail address, and only when the
issuer says that it has verified that address; or the account of who is signed in and asked for it.
"""

import re
from dataclasses import dataclass
from typing import Any

from allauth.core.exceptions import ImmediateHttpResponse
from allauth.socialaccount.adapter import DefaultSocialAccountAdapter
from allauth.socialaccount.models import SocialAccount, SocialLogin
from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from banks.models import AdminEvent
from banks.services import events
from memadmin.accounts import people
from memadmin.accounts.models import User

TRIES = 20  # at a user name that is free


class Refused(Exception):
    """Nobody was signed in, and nothing was joined. `said`: which text of company_refused.html is shown."""

    def __init__(self, said: str) -> None:
        super().__init__(said)
        self.said = said


@dataclass(frozen=True)
class Claims:
    """What the issuer says. `email` is empty unless it has verified that address."""

    subject: str
    email: str
    name: str
    login: str


class CompanyAdapter(DefaultSocialAccountAdapter):
    def pre_social_login(self, request: HttpRequest, sociallogin: SocialLogin) -> None:
        try:
            self._admit(request, sociallogin)
        except Refused as refused:
            raise ImmediateHttpResponse(refuse(request, refused.said)) from refused

    def _admit(self, request: HttpRequest, login: SocialLogin) -> None:
        claims = read(login.account.extra_data)
        asker = (login.state.get("data") or {}).get("join")
        if login.is_existing:
            owner: Any = login.user
            if asker is not None and asker != owner.pk:
                raise Refused("taken")
            return
        with transaction.atomic():
            if asker is not None:
                if not isinstance(request.user, User) or request.user.pk != asker:
                    raise Refused("left")
                person = request.user
            else:
                person = owner_of(claims)
            login.connect(request, person)
            after = {"name": claims.email or claims.subject}
            events.record(what=AdminEvent.What.IDENTITY_JOINED, actor=person, person=person, after=after)

    def on_authentication_error(
        self, request: HttpRequest, provider: Any, error: Any = "", exception: Any = None, extra_context: Any = None
    ) -> None:
        cancelled = error == "cancelled"
        raise ImmediateHttpResponse(refuse(request, "cancelled" if cancelled else "failed"))


def read(data: dict[str, Any]) -> Claims:
    """Raises Refused where the signed token is missing, or where the two answers are about different people."""
    token, more = data.get("id_token"), data.get("userinfo") or {}
    if not isinstance(token, dict) or not token.get("sub") or more.get("sub", token["sub"]) != token["sub"]:
        raise Refused("failed")
    said = {**token, **more}
    verified = said.get("email_verified") in (True, "true")
    return Claims(
        subject=str(token["sub"]),
        email=str(said.get("email") or "").strip() if verified else "",
        name=str(said.get("name") or "").strip()[:150],
        login=str(said.get("preferred_username") or said.get("email") or ""),
    )


def owner_of(claims: Claims) -> User:
    """Whose account a new identity opens. Raises Refused."""
    if not claims.email:
        raise Refused("unverified")
    domain = claims.email.rpartition("@")[2].lower()
    if settings.OIDC_DOMAINS and domain not in settings.OIDC_DOMAINS:
        raise Refused("domain")
    # Who signs in by this address; a user name that only looks like it is somebody else's.
    found = list(User.objects.filter(email__iexact=claims.email)[:2])
    if len(found) > 1:
        raise Refused("several")
    if found:
        return found[0]
    if not settings.OIDC_SIGN_UP or people.find(claims.email):
        raise Refused("unknown")
    return _make(claims)


def refuse(request: HttpRequest, said: str) -> HttpResponse:
    context = {"said": said, "company": settings.OIDC_NAME}
    return render(request, "accounts/company_refused.html", context, status=403)


def accounts_of(person: User) -> QuerySet[SocialAccount]:
    """Of the issuer that is configured now."""
    found: QuerySet[SocialAccount] = SocialAccount._default_manager.filter(user=person, provider=settings.OIDC_ID)
    return found


def _make(claims: Claims) -> User:
    """Somebody new, without a role."""
    wanted = re.sub(r"[^\w.+-]", "", claims.login.partition("@")[0])[:100] or "person"
    for number in range(1, TRIES + 1):
        username = wanted if number == 1 else f"{wanted}{number}"
        if people.find(username):
            continue
        try:
            with transaction.atomic():
                return people.create_invited(username=username, email=claims.email, name=claims.name)
        except IntegrityError:
            continue
    raise Refused("unknown")

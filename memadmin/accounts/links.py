"""One-time sign-in links: shown once, spent by a post, short-lived. Made in the terminal, or by whoever invites."""

import hashlib
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from memadmin.accounts.models import LoginLink, User

LIFETIME = timedelta(minutes=15)
INVITATION = timedelta(days=3)  # it travels by mail or chat to somebody who may be away


@dataclass(frozen=True)
class IssuedLink:
    """The only place where the token is in the clear."""

    user: User
    path: str  # begins with "/"
    expires: datetime

    def url(self, address: str) -> str:
        return f"{settings.PUBLIC_URL or address.rstrip('/')}{self.path}"


def issue(*, user: User, invitation: bool = False) -> IssuedLink:
    """A fresh link for this person. Links that are long over are forgotten on the way.

    `invitation`: the first way in for a new person, for days instead of minutes; an earlier one is dead from now on.
    """
    now = timezone.now()
    LoginLink.objects.filter(expires__lt=now - timedelta(days=1)).delete()
    if invitation:
        revoke(user=user)
    token = secrets.token_urlsafe(32)
    link = LoginLink.objects.create(
        user=user,
        token_hash=_hash(token),
        created=now,
        expires=now + (INVITATION if invitation else LIFETIME),
        invitation=invitation,
    )
    return IssuedLink(user, reverse("accounts:link", args=[token]), link.expires)


def find(token: str) -> LoginLink | None:
    """The link when it can still be spent. Looking does not spend it."""
    return _open(token).select_related("user").first()


def spend(token: str) -> User | None:
    """The person to sign in, once. Of two who spend it at the same time one gets None."""
    link = find(token)
    if link is None or not _open(token).update(spent=timezone.now()):
        return None
    return link.user


def revoke(*, user: User) -> int:
    """Ends all links of this person that were not spent. Returns how many."""
    ended, _ = LoginLink.objects.filter(user=user, spent__isnull=True).delete()
    return ended


def _open(token: str) -> QuerySet[LoginLink]:
    unspent = Q(spent__isnull=True, expires__gt=timezone.now(), user__is_active=True)
    return LoginLink.objects.filter(unspent, token_hash=_hash(token))


def _hash(token: str) -> str:
    # The token has 256 random bits: a slow hash would add nothing.
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()

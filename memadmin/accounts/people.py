"""People: the first one, made from the environment so that a fresh install can be signed in to; invited ones; ends."""

from dataclasses import dataclass

from django.conf import settings
from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.models import Session
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils import timezone

from memadmin.accounts import links
from memadmin.accounts.models import User


@dataclass(frozen=True)
class FirstAdmin:
    user: User
    created: bool
    has_password: bool


def ensure_first_admin() -> FirstAdmin:
    """The operator named by MEMADMIN_ADMIN_USERNAME when there is no operator yet, else the first one.

    Without MEMADMIN_ADMIN_PASSWORD the account has no usable password: a one-time link opens it. An account that
    exists is never changed, whatever the environment says now.
    """
    operator = User.objects.filter(is_superuser=True, is_active=True).order_by("pk").first()
    created = False
    if operator is None:
        try:
            with transaction.atomic():
                operator = User.objects.create_superuser(
                    settings.ADMIN_USERNAME, password=settings.ADMIN_PASSWORD or None
                )
            created = True
        except IntegrityError:  # another command was quicker
            operator = User.objects.get(username=settings.ADMIN_USERNAME)
    return FirstAdmin(operator, created, operator.has_usable_password())


def nobody_signed_in_yet() -> bool:
    return not User.objects.filter(last_login__isnull=False).exists()


def find(login: str) -> list[User]:
    """Who signs in by this user name or e-mail address, whatever the case of its letters."""
    fits = Q(username__iexact=login)
    if "@" in login:
        fits |= Q(email__iexact=login)
    return list(User.objects.filter(fits).order_by("pk")[:3])


def create_invited(*, username: str, email: str, name: str) -> User:
    """Somebody new, without a password: the link of the invitation is the first way in."""
    return User.objects.create_user(username, email, password=None, first_name=name[:150])


def may_be_invited(user: User) -> bool:
    """Whether a link may be handed to somebody else for this person: only before they have ever been here."""
    return user.is_active and user.last_login is None and not user.has_usable_password() and not user.is_superuser


def close(user: User) -> bool:
    """Shuts the account, and ends its sessions and links. False when it was shut already. Nothing of it is deleted."""
    if not User.objects.filter(pk=user.pk, is_active=True).update(is_active=False):
        return False
    links.revoke(user=user)
    end_sessions(user)
    user.is_active = False
    return True


def reopen(user: User) -> bool:
    """Opens a shut account. False when it was open already."""
    links.revoke(user=user)
    end_sessions(user)  # one that began while the account was being shut
    return bool(User.objects.filter(pk=user.pk, is_active=False).update(is_active=True))


def end_sessions(user: User) -> int:
    """Signs the person out everywhere. Returns how many sessions ended. Looks at every session that has not expired."""
    mine = str(user.pk)
    running = Session.objects.filter(expire_date__gt=timezone.now())
    keys = [one.session_key for one in running.iterator() if one.get_decoded().get(SESSION_KEY) == mine]
    for key in keys:
        Session.objects.filter(pk=key).delete()
    return len(keys)

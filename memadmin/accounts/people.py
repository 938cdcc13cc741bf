"""The first person: made from the environment, so that a fresh install can be signed in to."""

from dataclasses import dataclass

from django.conf import settings
from django.db import IntegrityError, transaction

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

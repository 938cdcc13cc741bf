"""The second factor: six digits from an app on a phone (TOTP), and recovery codes for the day it is lost.

allauth keeps and checks them. Its way to load a stored factor loads what security keys need, which are not offered, so
the two kinds are opened here.
"""

from typing import Any

from allauth.account.internal.flows.login import (
    AUTHENTICATION_METHODS_SESSION_KEY,
    get_authentication_records,
    record_authentication,
)
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.db import transaction
from django.http import HttpRequest

from memadmin.accounts import limits, people
from memadmin.accounts.models import User

Type = Authenticator.Type


def of(person: User) -> Authenticator | None:
    found: Authenticator | None = Authenticator.objects.filter(user=person, type=Type.TOTP).first()
    return found


def has_one(person: User) -> bool:
    return of(person) is not None


def codes_of(person: User) -> RecoveryCodes | None:
    found = Authenticator.objects.filter(user=person, type=Type.RECOVERY_CODES).first()
    return RecoveryCodes(found) if found else None


def check(request: HttpRequest, person: User, code: str) -> bool:
    """Whether this is the code of now, or a recovery code, which is spent by it. Raises limits.TooMany."""
    limits.take_code(person)
    for each in Authenticator.objects.filter(user=person, type__in=[Type.TOTP, Type.RECOVERY_CODES]).order_by("-type"):
        kind = TOTP if each.type == Type.TOTP else RecoveryCodes
        if kind(each).validate_code(code):
            each.refresh_from_db()  # a recovery code was marked as spent in another copy
            each.record_usage()
            limits.forgive_code(person)
            vouch(request, person, each.type)
            return True
    return False


def vouch(request: HttpRequest, person: User, kind: str) -> None:
    """This session has shown it."""
    record_authentication(request, person, method="mfa", type=kind)


def shown_in(request: HttpRequest) -> bool:
    person: Any = request.user
    return any(record["method"] == "mfa" for record in get_authentication_records(request, person))


def forget_shown(request: HttpRequest) -> None:
    records = request.session.get(AUTHENTICATION_METHODS_SESSION_KEY, [])
    kept = [record for record in records if record["method"] != "mfa"]
    request.session[AUTHENTICATION_METHODS_SESSION_KEY] = kept


@transaction.atomic
def remove(person: User) -> bool:
    """With its recovery codes. False when there was none."""
    return bool(Authenticator.objects.filter(user=person).delete()[0])


def reset(person: User) -> bool:
    """For somebody who lost it: nothing of it is left, and whoever has it is signed out. False when there was none."""
    if not remove(person):
        return False
    limits.unlock(person)
    people.end_sessions(person)
    return True

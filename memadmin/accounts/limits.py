"""How often a wrong password or code may be tried: rows of the database, so that every web process counts alike.

A try is taken before the password is looked at, by a conditional update: of a hundred at once, no more than the limit
are looked at. A name that nobody has is counted like any other, so that nothing can be learnt from it.
"""

import hashlib
import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import F, Q
from django.utils import timezone

from memadmin.accounts.models import SignInTries, User

FORGOTTEN_AFTER = timedelta(days=1)


class TooMany(Exception):
    """Nothing was looked at. `minutes`: until when, rounded up. `name`: it is about the name, else the address."""

    def __init__(self, until: datetime, *, name: bool) -> None:
        self.until, self.name = until, name
        self.minutes = max(1, -int((timezone.now() - until).total_seconds() // 60))
        what = "for this name" if name else "from your network address"
        super().__init__(f"Too many wrong tries {what}. Wait {self.minutes} min, then try again.")


@dataclass(frozen=True)
class Taken:
    """A try that was counted. Forgive it when the password was right."""

    name: str
    address: str


def take(*, name: str, address: str) -> Taken:
    """Counts a try by what was typed as the name, and from this network address. Raises TooMany."""
    taken = Taken(_of_name(name), _of_address(address))
    _take(taken.address, settings.SIGNIN_ADDRESS_TRIES, name=False)
    _take(taken.name, settings.SIGNIN_TRIES, name=True)
    return taken


def forgive(taken: Taken) -> None:
    """The password was right: the name begins anew. The address gets this one try back, and keeps the wrong ones."""
    SignInTries.objects.filter(key=taken.name).delete()
    SignInTries.objects.filter(key=taken.address, failures__gt=0).update(failures=F("failures") - 1)


def take_code(person: User) -> None:
    """Counts a try at a code of the second factor. Raises TooMany."""
    _take(_of_code(person), settings.SIGNIN_TRIES, name=True)


def forgive_code(person: User) -> None:
    SignInTries.objects.filter(key=_of_code(person)).delete()


def locked_until(person: User) -> datetime | None:
    """Until when the person cannot sign in by one of their names or a code; None when nothing is locked."""
    full = SignInTries.objects.filter(key__in=_keys_of(person), failures__gte=settings.SIGNIN_TRIES)
    last = full.filter(last__gt=timezone.now() - _lock()).order_by("-last").values_list("last", flat=True).first()
    return last + _lock() if last else None


def unlock(person: User) -> int:
    """How many counts of this person began anew."""
    return _drop(Q(key__in=_keys_of(person)))


def unlock_address(address: str) -> int:
    return _drop(Q(key=_of_address(address)))


def unlock_all() -> int:
    return _drop(Q())


def _drop(which: Q) -> int:
    return SignInTries.objects.filter(which).delete()[0]


def _take(key: str, most: int, *, name: bool) -> None:
    now = timezone.now()
    mine = SignInTries.objects.filter(key=key)
    mine.filter(last__lte=now - _lock()).update(failures=0)
    if _count(key, most, now):
        return
    try:
        with transaction.atomic():
            SignInTries.objects.create(key=key, failures=1, last=now)
    except IntegrityError:  # there is a row: it is full, or came this instant
        if not _count(key, most, now):
            last = mine.values_list("last", flat=True).first() or now
            raise TooMany(last + _lock(), name=name) from None
    else:
        SignInTries.objects.filter(last__lt=now - FORGOTTEN_AFTER).delete()


def _count(key: str, most: int, now: datetime) -> bool:
    return bool(SignInTries.objects.filter(key=key, failures__lt=most).update(failures=F("failures") + 1, last=now))


def _lock() -> timedelta:
    return timedelta(minutes=settings.SIGNIN_LOCK_MINUTES)


def _keys_of(person: User) -> Iterable[str]:
    return [_of_name(person.username), *([_of_name(person.email)] if person.email else []), _of_code(person)]


def _of_name(name: str) -> str:
    # People type passwords into the wrong field: what was typed is not kept.
    typed = name.strip().casefold().encode("utf-8", "surrogatepass")
    return f"name:{hashlib.sha256(typed).hexdigest()}"


def _of_code(person: User) -> str:
    return f"code:{person.pk}"


def _of_address(address: str) -> str:
    """A household or a company has one IPv6 network of 64 bits, and all of its addresses."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return "from:unknown"
    if isinstance(found, ipaddress.IPv6Address):
        return f"from:{ipaddress.ip_network((found, 64), strict=False)}"
    return f"from:{found}"

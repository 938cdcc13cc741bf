"""Who signs in by the company. Nothing of it is loaded where no issuer is configured."""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings

from memadmin.accounts import people
from memadmin.accounts.models import User


@dataclass(frozen=True)
class Identity:
    name: str  # as the issuer says it: an address, or else the subject
    since: datetime


def of(person: User) -> list[Identity]:
    """One query, or none without an issuer."""
    if not settings.OIDC_ISSUER:
        return []
    from memadmin.accounts.company import accounts_of

    found = []
    for row in accounts_of(person).order_by("pk"):
        said = {**(row.extra_data.get("id_token") or {}), **(row.extra_data.get("userinfo") or {})}
        found.append(Identity(str(said.get("email") or row.uid), row.date_joined))
    return found


def end(person: User) -> int:
    """None of them opens the account any more, and whoever is in it is signed out. Returns how many there were."""
    if not settings.OIDC_ISSUER:
        return 0
    from memadmin.accounts.company import accounts_of

    ended: int = accounts_of(person).delete()[0]
    if ended:
        people.end_sessions(person)
    return ended

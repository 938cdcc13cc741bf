from django.conf import settings

from banks import access
from memadmin.accounts.models import User


def needs_factor(person: User) -> bool:
    """Whether this person must have a second factor (MEMADMIN_SECOND_FACTOR)."""
    if settings.SECOND_FACTOR == "all":
        return True
    return bool(settings.SECOND_FACTOR == "admins" and access.reach_of(person).team)

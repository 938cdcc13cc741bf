"""Taking a memory back that still waits: it never leaves."""

from django.core.exceptions import PermissionDenied
from django.db import transaction

from banks import access
from banks.models import RetainItem, Role
from banks.retain import selectors
from memadmin.accounts.models import User

State = RetainItem.State


@transaction.atomic
def discard(*, user: User, item: RetainItem) -> bool:
    """False when a worker was faster, or it does not wait any more. For who sent it, and for admins of its bank."""
    access.require(user, item.bank, Role.REVIEWER)
    if not selectors.may_discard(user, item):
        raise PermissionDenied("Only who sent a memory, or an admin of its bank, discards it.")
    changed = RetainItem.objects.filter(pk=item.pk, state=State.QUEUED).update(
        state=State.DISCARDED, error=f"Discarded by {user.display_name} before it was sent."
    )
    item.refresh_from_db()
    return bool(changed)

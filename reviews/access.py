"""Fetching an entry proves the right, as in banks.access: 404 for strangers, 403 for readers who may not decide."""

from typing import Any

from django.db.models import QuerySet
from django.http import Http404

from banks import access
from banks.models import Role
from reviews.models import ReviewEntry


def entries_for(user: Any, role: Role = Role.VIEWER) -> QuerySet[ReviewEntry]:
    """The entries of the banks on which this person has at least this role."""
    banks = access.bank_ids_for(user, role)
    return ReviewEntry.objects.all() if banks is None else ReviewEntry.objects.filter(bank__in=banks)


def get_entry(user: Any, pk: int, role: Role = Role.VIEWER) -> ReviewEntry:
    """The entry with its bank and server, when this person has at least this role there."""
    entry = ReviewEntry.objects.select_related("bank__server", "lease_user").filter(pk=pk).first()
    if entry is None:
        raise Http404("No such memory.")
    access.require(user, entry.bank, role)
    return entry

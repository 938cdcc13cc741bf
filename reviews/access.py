"""Fetching an entry proves the right, as in banks.access: 404 for strangers, 403 for readers who may not decide."""

from typing import Any

from django.db.models import QuerySet
from django.http import Http404

from banks import access
from banks.models import Role
from reviews.models import ReviewEntry

DECIDED_ON = (
    *(
        "bank__server",
        "bank__bank_id",
        "bank__kind",
        "bank__two_reviewers",
        "bank__bars_writer",
        "document_id",
        "document_hash",
        "item",
        "state",
        "version",
        "load_state",
        "text",
        "text_size",
        "text_by",
        "vouched_version",
        "facts",
    ),
    *("content_hash", "document_created_at", "retain_params", "expires_at", "enqueued_at", "decided_at"),
)


def entries_for(user: Any, role: Role = Role.VIEWER) -> QuerySet[ReviewEntry]:
    """The entries of the banks on which this person has at least this role."""
    banks = access.bank_ids_for(user, role)
    return ReviewEntry.objects.all() if banks is None else ReviewEntry.objects.filter(bank__in=banks)


def get_entry(user: Any, pk: int, role: Role = Role.VIEWER) -> ReviewEntry:
    """The entry with its bank and server, when this person has at least this role there."""
    return _get(ReviewEntry.objects.select_related("bank__server", "lease_user"), user, pk, role)


def get_entry_to_decide(user: Any, pk: int) -> ReviewEntry:
    """For a reviewer; only what a decision reads is fetched, since most of the time of a decision would go there."""
    return _get(ReviewEntry.objects.select_related("bank").only(*DECIDED_ON), user, pk, Role.REVIEWER)


def _get(entries: QuerySet[ReviewEntry], user: Any, pk: int, role: Role) -> ReviewEntry:
    entry = entries.filter(pk=pk).order_by().first()
    if entry is None:
        raise Http404("No such memory.")
    access.require(user, entry.bank, role)
    return entry

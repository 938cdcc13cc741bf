"""Making a bank a person's, and a project's again: who sees it changes at that moment (banks.access)."""

from typing import Any

from django.db import transaction
from django.db.models import Q

from banks import access
from banks.models import AdminEvent, Bank, RetainItem, Write
from banks.services import events
from banks.services.refusal import ChangedMeanwhile, Refusal
from memadmin.accounts.models import User

What = AdminEvent.What
UNDER_WAY = [RetainItem.State.HELD, RetainItem.State.QUEUED, RetainItem.State.SENT]
CHANGED = "Somebody changed this meanwhile. Nothing was changed by you; look at it again."


@transaction.atomic
def mark(*, actor: User, bank: Bank, person: User) -> bool:
    """From now on it is this person's. False when it is already. Raises Refusal. `actor` is an admin of it, and stays
    one; memories that came for a project must have ended first, since they would get into it."""
    if bank.personal and bank.person_id == person.pk:
        return False
    if not person.is_active:
        raise Refusal("This account is closed. An operator can open it again.", field="login")
    before = {"person": bank.person.display_name} if bank.person else {}
    _change(bank, kind=Bank.Kind.PERSON, person=person)
    if not before and _under_way(bank):
        raise Refusal(
            "Memories that came for a project are on their way into this bank, or held for review. Decide on those "
            "that are held, wait until the others are there, and press again."
        )
    after = {"person": person.display_name}
    events.record(what=What.PERSON_NAMED, actor=actor, bank=bank, person=person, before=before, after=after)
    return True


@transaction.atomic
def clear(*, actor: User, bank: Bank) -> bool:
    """A project's again: everybody with a role on it or on its server sees it. False when it is that already."""
    if not bank.personal:
        return False
    person = bank.person
    before = {"person": person.display_name if person else ""}
    _change(bank, kind=Bank.Kind.PROJECT, person=None)
    events.record(what=What.PERSON_CLEARED, actor=actor, bank=bank, person=person, before=before)
    return True


def hidden_from(bank: Bank) -> int:
    """How many people with a role on the bank or its server do not see it while it is a person's."""
    here = Q(bank=bank) | Q(server=bank.server_id)
    people = User.objects.filter(access.holders(here), is_active=True, is_superuser=False)
    return people.exclude(access.admins_of(bank)).exclude(pk=bank.person_id or 0).count()


def _under_way(bank: Bank) -> bool:
    items = RetainItem.objects.filter(bank=bank, state__in=UNDER_WAY)
    files = Write.objects.filter(bank=bank, kind="retain-files", state__in=Write.OPEN)
    return items.exists() or files.exists()


def _change(bank: Bank, **values: Any) -> None:
    """As it was shown; the instance follows."""
    if not Bank.objects.filter(pk=bank.pk, kind=bank.kind, person=bank.person_id).update(**values):
        raise ChangedMeanwhile(CHANGED)
    bank.refresh_from_db(fields=["kind", "person"])

"""What the tests of held memories share: a bank that holds, and decisions on what is there now."""

from typing import Any

from django.utils import timezone

from banks.models import Bank, RetainItem
from memadmin.accounts.models import User
from reviews.models import ReviewEntry
from reviews.services import decide, poll
from tests.banks.retaining import put


def hold(bank: Bank, on: bool = True) -> None:
    Bank.objects.filter(pk=bank.pk).update(hold=on)
    bank.hold = on


def held(user: User, bank: Bank, *items: str | dict[str, Any], **more: Any) -> list[ReviewEntry]:
    """The entries of these memories, in their order."""
    hold(bank)
    rows = put(user, bank, *items, **more)
    found = {entry.item_id: entry for entry in ReviewEntry.objects.select_related("bank").filter(item__in=rows)}
    return [found[row.pk] for row in rows if row.pk in found]


def act(kind: str, user: User, entry: ReviewEntry, **more: Any) -> Any:
    """approve, delete or edit, on what is there now."""
    entry.refresh_from_db()
    values = {"version": entry.version, "text_hash": entry.text_id, **more}
    return getattr(decide, kind)(user=user, entry_id=entry.pk, **values)


def item_of(entry: ReviewEntry) -> RetainItem:
    return RetainItem.objects.get(pk=entry.item_id)


def look(bank: Bank) -> str:
    """At the bank's own list; settled: nothing has to be quiet first."""
    Bank.objects.filter(pk=bank.pk).update(poll_after=timezone.now(), poll_claimed_until=None, settle_minutes=0)
    return poll.poll(bank.pk)

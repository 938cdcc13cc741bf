"""What is read for the pages on which banks are made, named and deleted."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from banks import access, connections, hooks
from banks.config.seen import CALL_SECONDS, GONE, NOT_ASKED, UNADDRESSABLE
from banks.crypto import CannotDecrypt
from banks.hindsight import HindsightError, NotFound
from banks.models import Bank, RetainItem, Role, Write
from memadmin.counting import Count, count_of

State = RetainItem.State


@dataclass(frozen=True)
class Contents:
    """What the server says that a bank has; None = unknown. `at`: when it said so, None = just now."""

    documents: int | None
    facts: int | None
    at: datetime | None = None
    why: str = ""  # it was not asked, or did not answer


@dataclass(frozen=True)
class Stays:
    """What is kept by us of a bank that is deleted."""

    pending: int
    held: Count
    queued: Count
    under_way: Count


def administered(user: Any) -> QuerySet[Bank]:
    """The banks whose admin this person is, by what they are called."""
    return access.banks_for(user, Role.ADMIN).select_related("server").order_by("name", "bank_id", "pk")


def deletion_of(bank: Bank) -> Write | None:
    """The delete that waits for the end of its time of grace, or is under way."""
    return _deletions().filter(bank=bank).first()


def deletions_of(banks: Iterable[Bank]) -> dict[int, Write]:
    """By the bank's primary key. One query."""
    return {write.bank_id: write for write in _deletions().filter(bank__in=list(banks))}


def contents_of(bank: Bank) -> Contents:
    """Asks the server, within the time that a fragment may take; else what it said last."""
    why = "" if bank.addressable else UNADDRESSABLE
    why = why or (NOT_ASKED if connections.paused_until(bank.server) else "")
    if not why:
        try:
            with connections.talking_to(bank.server, within=CALL_SECONDS) as client:
                stats = client.stats(bank.bank_id)
            return Contents(stats.documents, stats.facts)
        except NotFound as error:
            why = GONE if error.what == "bank" else str(error)
        except (HindsightError, CannotDecrypt) as error:
            why = str(error)
    return known_of(bank, why)


def known_of(bank: Bank, why: str = "") -> Contents:
    """What the server said last; nobody is asked."""
    return Contents(bank.document_count, bank.fact_count, bank.counted_at, why)


def stays_of(bank: Bank) -> Stays:
    items = RetainItem.objects.filter(bank=bank)
    return Stays(
        pending=hooks.waiting([bank.pk]).get(bank.pk, 0),
        held=count_of(items.filter(state=State.HELD)),
        queued=count_of(items.filter(state__in=[State.QUEUED, State.SENT])),
        under_way=count_of(Write.objects.filter(bank=bank, state__in=Write.OPEN).exclude(kind="bank-delete")),
    )


def _deletions() -> QuerySet[Write]:
    return Write.objects.filter(kind="bank-delete", state__in=Write.OPEN).order_by("pk")

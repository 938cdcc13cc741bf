"""What is read for the pages about API tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Prefetch

from banks import access
from banks.models import ApiToken, Bank
from memadmin.accounts.models import User
from memadmin.retention import ItemRetainer, RetainedItems

PER_PAGE = 50
BANKS_SHOWN = 5  # of one token
BANKS_OFFERED = 200


@dataclass(frozen=True)
class TokenPage:
    """The newest first, each with `some_banks`, one more than is shown. `after`: where the next page starts, or ""."""

    rows: Sequence[ApiToken]
    after: str


def token_page(owner: User | None, *, after: str = "") -> TokenPage:
    """One person's tokens; everybody's for None."""
    tokens = ApiToken.objects.all() if owner is None else ApiToken.objects.filter(owner=owner)
    if after.isascii() and after.isdigit() and len(after) < 18:
        tokens = tokens.filter(pk__lt=int(after))
    some = Prefetch("banks", Bank.objects.order_by("pk")[: BANKS_SHOWN + 1], to_attr="some_banks")
    found = list(tokens.select_related("owner").prefetch_related(some).order_by("-pk")[: PER_PAGE + 1])
    more, found = len(found) > PER_PAGE, found[:PER_PAGE]
    return TokenPage(found, str(found[-1].pk) if more else "")


def banks_offered(user: Any) -> RetainedItems[Bank]:
    """The banks for which this person may make a token."""
    banks = access.banks_for(user).select_related("server").order_by("name", "bank_id", "pk")
    offered: ItemRetainer[Bank] = ItemRetainer(BANKS_OFFERED, stop="stop_when_full")
    for bank in banks[: BANKS_OFFERED + 1]:  # the last one only tells that there are more
        offered.push(bank)
    return offered.finish()

"""Where apps above this one say what they know about banks, or do for them. `banks` imports none of them."""

from collections.abc import Callable, Collection, Sequence, Set
from datetime import datetime

from banks.models import Bank, RetainItem

# Called inside the transaction that changed a bank's policy, with the names of the fields that changed.
PolicyHook = Callable[[Bank, Set[str]], None]
# {primary key of the bank: memories that wait for a person}; a bank that is not in it has none.
WaitingHook = Callable[[Collection[int]], dict[int, int]]

# {primary key of the bank: since when the oldest of them waits}; a bank whose memories have no date is not in it.
OldestHook = Callable[[Collection[int]], dict[int, datetime]]

# (bank, hash of the document's id) → the address of the page about that document, "" when there is none.
PageHook = Callable[[Bank, str], str]

# Of facts as (primary key of the bank, id), those that were decided about and are not in their bank any more.
GoneHook = Callable[[Collection[tuple[int, str]]], set[tuple[int, str]]]

# Called inside the transaction that stored memories which are held for review, with their texts, in their order.
HoldHook = Callable[[Sequence[tuple[RetainItem, str]]], None]

# A memory that was held → the address of the page where it is decided on, "" when there is none.
ReviewHook = Callable[[RetainItem], str]

_after_policy: list[PolicyHook] = []
_waiting: list[WaitingHook] = []
_oldest: list[OldestHook] = []
_pages: list[PageHook] = []
_gone: list[GoneHook] = []
_holding: list[HoldHook] = []
_reviews: list[ReviewHook] = []


def after_policy_change(hook: PolicyHook) -> None:
    _after_policy.append(hook)


def counts_waiting(hook: WaitingHook) -> None:
    _waiting.append(hook)


def dates_waiting(hook: OldestHook) -> None:
    _oldest.append(hook)


def has_pages(hook: PageHook) -> None:
    _pages.append(hook)


def knows_gone(hook: GoneHook) -> None:
    _gone.append(hook)


def holds(hook: HoldHook) -> None:
    _holding.append(hook)


def has_reviews(hook: ReviewHook) -> None:
    _reviews.append(hook)


def hold(items: Sequence[tuple[RetainItem, str]]) -> None:
    """Hands memories over to who has them decided on."""
    for hook in _holding:
        hook(items)


def review_of(item: RetainItem) -> str:
    """Where a memory that was held is decided on."""
    return next((url for hook in _reviews if (url := hook(item))), "")


def gone(facts: Collection[tuple[int, str]]) -> set[tuple[int, str]]:
    """Which of these facts are known to be in no list of their bank."""
    return {fact for hook in _gone for fact in hook(facts)} if facts else set()


def page_of(bank: Bank, document_hash: str) -> str:
    """Where a document has a page of its own."""
    return next((url for hook in _pages if document_hash and (url := hook(bank, document_hash))), "")


def policy_changed(bank: Bank, changed: Set[str]) -> None:
    for hook in _after_policy:
        hook(bank, changed)


def waiting(banks: Collection[int]) -> dict[int, int]:
    """How many memories wait for a person, per bank."""
    counts: dict[int, int] = {}
    for hook in _waiting:
        for bank, count in hook(banks).items():
            counts[bank] = counts.get(bank, 0) + count
    return counts


def oldest_waiting(banks: Collection[int]) -> dict[int, datetime]:
    """Since when the oldest memory that has a date waits for a person, per bank."""
    dates: dict[int, datetime] = {}
    for hook in _oldest:
        for bank, date in hook(banks).items():
            dates[bank] = min(dates.get(bank, date), date)
    return dates

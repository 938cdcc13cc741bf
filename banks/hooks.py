"""Where apps above this one say what they know about banks, or do for them. `banks` imports none of them."""

from collections.abc import Callable, Collection, Set

from banks.models import Bank

# Called inside the transaction that changed a bank's policy, with the names of the fields that changed.
PolicyHook = Callable[[Bank, Set[str]], None]
# {primary key of the bank: memories that wait for a person}; a bank that is not in it has none.
WaitingHook = Callable[[Collection[int]], dict[int, int]]

_after_policy: list[PolicyHook] = []
_waiting: list[WaitingHook] = []


def after_policy_change(hook: PolicyHook) -> None:
    _after_policy.append(hook)


def counts_waiting(hook: WaitingHook) -> None:
    _waiting.append(hook)


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

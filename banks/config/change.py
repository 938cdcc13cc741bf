"""Changing how a bank is set, and copying settings from one bank to another: rows of the log, sent by a worker."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from banks import access, writes
from banks.config.fields import same, text_of
from banks.config.kind import KIND
from banks.config.seen import Seen, dump
from banks.models import Bank, Blob, Role, Write
from banks.services.refusal import Refusal
from memadmin.accounts.models import User

GONE = "This bank is not on its server, so nothing was stored: a setting would create an empty bank of that name."


@dataclass(frozen=True)
class Line:
    """One setting of a copy. `here`, `there`: as text, "" where it is inherited; `wanted` None = inherit there too."""

    name: str
    here: str
    there: str
    wanted: Any
    offered: bool  # chosen at first


@transaction.atomic
def change(
    *, actor: User, bank: Bank, seen: Seen, updates: Mapping[str, Any], copied_from: Bank | None = None
) -> Write | None:
    """Records what is to be changed, None = inherit again; nothing and no row where that is nothing.

    `seen`: what it was decided on. Raises Refusal where the bank is gone.
    """
    access.require(actor, bank, Role.ADMIN)
    updates = {name: value for name, value in updates.items() if not same(value, seen.overrides.get(name))}
    if not updates:
        return None
    if bank.gone_since is not None or not bank.addressable:
        raise Refusal(GONE)
    before = {name: seen.overrides.get(name) for name in updates}
    params: dict[str, Any] = {"settings": sorted(updates)}
    if copied_from is not None:
        params["copied_from"] = copied_from.bank_id
    return writes.record(
        kind=KIND,
        bank=bank,
        via=Write.Via.WEB,
        actor=actor,
        request=Blob.objects.store(dump(dict(updates))),
        before=Blob.objects.store(dump(before)),
        params=params,
    )


def compared(source: Seen, target: Seen) -> list[Line]:
    """What a copy could change, by name: settings that are one bank's own and not the same in the other.

    Those that the source inherits are not chosen at first: they may be there for a reason.
    """
    names = sorted({*source.overrides, *target.overrides})
    pairs = [(name, source.overrides.get(name), target.overrides.get(name)) for name in names]
    return [
        Line(name, text_of(here), text_of(there), here, offered=here is not None)
        for name, here, there in pairs
        if not same(here, there)
    ]


def copy(*, actor: User, source: Bank, target: Bank, here: Seen, there: Seen, names: Collection[str]) -> Write | None:
    """Gives the target these settings of the source, as both were shown. None where there is nothing to change."""
    access.require(actor, source, Role.ADMIN)
    wanted = {line.name: line.wanted for line in compared(here, there) if line.name in names}
    return change(actor=actor, bank=target, seen=there, updates=wanted, copied_from=source)

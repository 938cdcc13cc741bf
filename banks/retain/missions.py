"""What a bank is told to look for, where nobody has told it: never over a mission that somebody wrote.

A bank's policy holds the missions. The first batch that a process sends to the bank looks whether they are there; what
is missing becomes a write of its own, with its own row. Nothing here holds up or fails a memory.
"""

import logging

from django.db import transaction

from banks.hindsight import HindsightClient, HindsightError
from banks.models import Bank, Write
from banks.writes import Done, Kind, NotDone, StillWorking, Stuck, record, register
from banks.writes.kind import config_slot

logger = logging.getLogger(__name__)

FIELDS = ("retain_mission", "reflect_mission")
_looked: set[tuple[object, ...]] = set()  # by this process


def ensure(client: HindsightClient, bank: Bank) -> None:
    """Looks once per process, and again after a failure, or when the policy has changed.

    A person's bank gets none: nothing is written there by itself.
    """
    if bank.personal:
        return
    key = (bank.pk, *(getattr(bank, name) for name in FIELDS))
    if key in _looked or not any(key[1:]):
        return
    try:
        values = client.bank_config(bank.bank_id).values
    except HindsightError as error:
        logger.info("the missions of bank %s could not be looked at (%s)", bank.pk, type(error).__name__)
        return
    wanted = _missing(bank, values)
    under_way = Write.objects.filter(bank=bank, kind="mission", state__in=[*Write.OPEN, Write.State.ATTENTION])
    if wanted and not under_way.exists():
        with transaction.atomic():
            record(kind="mission", bank=bank, via=Write.Via.HOUSEKEEPING, params=wanted)
    _looked.add(key)


def _missing(bank: Bank, values: dict[str, object]) -> dict[str, str]:
    """The missions of the policy for which the bank has none, blank ones included."""
    return {
        name: wanted
        for name in FIELDS
        if (wanted := str(getattr(bank, name))) and not str(values.get(name) or "").strip()
    }


@register
class Mission(Kind):
    """Sets the missions in `params` where the bank still has none, and reads back that they are there."""

    name, glyph, verb, past, tone = "mission", "◎", "set mission", "mission set", "none"

    def slot(self, *, bank: Bank, **about: object) -> str:
        return config_slot(bank)

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | StillWorking | None:
        if write.bank.personal:  # since it was recorded
            return Done({"kept": sorted(write.params)})
        values = client.bank_config(write.bank.bank_id).values
        left = {name: text for name, text in write.params.items() if not str(values.get(name) or "").strip()}
        kept = sorted(write.params.keys() - left.keys())
        if not left:
            return Done({"kept": kept})
        write.outcome = {**write.outcome, "kept": kept}
        return None

    def send(self, client: HindsightClient, write: Write) -> Done | Stuck:
        kept = write.outcome.get("kept", [])
        wanted = {name: text for name, text in write.params.items() if name not in kept}
        now = client.patch_config(write.bank.bank_id, wanted).overrides
        ignored = sorted(name for name, text in wanted.items() if now.get(name) != text)
        if ignored:
            return Stuck(f"The server said yes and did not keep it: {', '.join(ignored)}. Nothing else was changed.")
        return Done({"set": sorted(wanted)})

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | StillWorking | Stuck:
        """What is there now is either ours or somebody's; both stay."""
        values = client.bank_config(write.bank.bank_id).values
        there = all(str(values.get(name) or "").strip() for name in write.params)
        return Done({"set": sorted(write.params)}) if there else NotDone()

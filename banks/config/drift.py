"""A bank's missions three times: as the server has them, as the bank's policy wants them, as we wrote them last."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from banks.config.fields import MISSIONS, text_of
from banks.config.kind import KIND, settings_in
from banks.config.seen import Seen
from banks.diffs import Diff, diff
from banks.models import Bank, Write

LOOKED_AT = 50  # newest changes
SHOWN = 15


@dataclass(frozen=True)
class Written:
    """`text` None = it was given back to the server, to be inherited."""

    text: str | None
    at: datetime
    write: Write


@dataclass(frozen=True)
class Drift:
    """`expected`: what the policy says, "" where it says nothing. `ours` None = we never wrote it.

    `own`: the bank has it of its own, else it is inherited.
    """

    name: str
    server: str
    own: bool
    expected: str
    ours: Written | None

    @property
    def off_policy(self) -> bool:
        return bool(self.expected) and self.server != self.expected

    @property
    def moved(self) -> bool:
        """Somebody else wrote it after us."""
        if self.ours is None:
            return False
        return self.own if self.ours.text is None else self.server != self.ours.text

    @property
    def against_policy(self) -> Diff:
        return diff(self.expected, self.server)

    @property
    def against_ours(self) -> Diff:
        return diff(self._ours, self.server)

    def text(self, source: str) -> str | None:
        """What could be written instead; None where there is no such text, or it is there already."""
        found = {"policy": self.expected, "ours": self._ours}.get(source, "")
        return found if found and found != self.server else None

    @property
    def _ours(self) -> str:
        return (self.ours.text if self.ours else None) or ""


def drifts(bank: Bank, seen: Seen) -> list[Drift]:
    """Of the missions that this server has."""
    ours = last_written(bank)
    return [
        Drift(
            name=name,
            server=text_of(seen.values.get(name)),
            own=name in seen.overrides,
            expected=str(getattr(bank, name, "")),
            ours=ours.get(name),
        )
        for name in MISSIONS
        if name in seen.values
    ]


def last_written(bank: Bank) -> dict[str, Written]:
    """{mission: what the bank had of it when our latest change of it was read back}"""
    found: dict[str, Written] = {}
    rows = changes_of(bank).filter(state=Write.State.DONE).select_related("request")
    for write in rows[:LOOKED_AT]:
        for name, value in _missions_in(write):
            text = None if value is None else text_of(value)
            found.setdefault(name, Written(text, write.finished or write.occurred_at, write))
    return found


def changes_of(bank: Bank) -> QuerySet[Write]:
    """All that was done, or tried, to how this bank is set; the newest first."""
    return Write.objects.filter(bank=bank, kind__in=[KIND, "mission"]).order_by("-occurred_at", "-pk")


def _missions_in(write: Write) -> Iterator[tuple[str, Any]]:
    if write.kind == KIND:
        given = settings_in(write.request) or {}
    else:  # of the policy's missions, those that the bank had none of
        given = {name: text for name, text in write.params.items() if name in write.outcome.get("set", [])}
    for name in MISSIONS:
        if name in given:
            yield name, given[name]

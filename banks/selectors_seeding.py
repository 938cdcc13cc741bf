"""What pages show of seedings: what each seed came to in each bank, with the row that makes its model."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from banks import access
from banks.models import Bank, Job, Write
from banks.seeds import job as seeding
from banks.seeds.planning import EXISTS
from memadmin.accounts.models import User

BANKS_SHOWN = 60


@dataclass(frozen=True)
class ToldRow:
    row: seeding.Row
    write: Write | None = None


@dataclass(frozen=True)
class ToldBank:
    bank: Bank
    rows: list[ToldRow]


@dataclass(frozen=True)
class Told:
    """What a seeding, or its preview, came to by now; the numbers are of all banks, `more` of them are not shown.

    `over`: nothing more will change by itself.
    """

    banks: list[ToldBank]
    counts: dict[str, int] = field(default_factory=dict)
    drifted: int = 0
    done: int = 0
    refused: int = 0
    over: bool = True
    more: int = 0

    @property
    def create(self) -> int:
        return self.counts.get("create", 0)


def told_of(user: User, job: Job) -> Told:
    """Of the banks that this person still sees. Three queries."""
    rows = seeding.rows_of(job)
    banks = {bank.pk: bank for bank in access.banks_for(user).filter(pk__in=job.params["banks"])}
    writes = Write.objects.in_bulk([row.write for row in rows if row.write])
    told: dict[int, list[ToldRow]] = {}
    for row in rows:
        if row.bank in banks:
            told.setdefault(row.bank, []).append(ToldRow(row, writes.get(row.write or 0)))
    seen: list[ToldRow] = [each for rows_of_bank in told.values() for each in rows_of_bank]
    states = [each.write.state for each in seen if each.write]
    refused = (Write.State.ATTENTION, Write.State.CHANGED)
    return Told(
        banks=[ToldBank(banks[pk], each) for pk, each in list(told.items())[:BANKS_SHOWN]],
        more=max(len(told) - BANKS_SHOWN, 0),
        counts=_counts(seen),
        drifted=sum(bool(each.row.differs) for each in seen if each.row.status == EXISTS),
        done=states.count(Write.State.DONE),
        refused=sum(state in refused for state in states),
        over=job.ended and not any(state in Write.OPEN for state in states),
    )


def _counts(rows: Iterable[ToldRow]) -> dict[str, int]:
    """With our words as names that a template can say."""
    counts: dict[str, Any] = {}
    for each in rows:
        name = each.row.status.replace("-", "_")
        counts[name] = counts.get(name, 0) + 1
    return counts

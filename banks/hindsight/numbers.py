"""What a server tells about a bank beside its counters: how much came on which day, and its other ids."""

from dataclasses import dataclass
from datetime import date

from banks.hindsight import fields
from banks.hindsight.fields import Row, ShapeError

MOST_DAYS, MOST_ALIASES, LONGEST_ALIAS = 400, 200, 1_000


@dataclass(frozen=True, slots=True)
class Days:
    """New facts of each day, the oldest first, observations not among them. `last`: the last of these days, in UTC."""

    counts: list[int]
    last: date

    @classmethod
    def parse(cls, row: Row) -> "Days":
        buckets = row.get("buckets")
        if fields.text(row, "trunc") != "day" or not isinstance(buckets, list) or not buckets:
            raise ShapeError("no days in the answer")
        days: dict[date, int] = {}
        for each in map(fields.mapping, buckets[-MOST_DAYS:]):
            began = fields.when(each, "time")
            if began is None:
                raise ShapeError("a day without its date")
            new = fields.number(each, "world") + fields.number(each, "experience")
            days[began.date()] = min(days.get(began.date(), 0) + new, fields.LARGEST)
        return cls([days[day] for day in sorted(days)], max(days))


def aliases_in(row: Row) -> list[str]:
    """The aliases of an answer; those that no call could name are left out."""
    rows = row.get("aliases")
    if not isinstance(rows, list):
        raise ShapeError("no aliases in the answer")
    found = [fields.text(fields.mapping(each), "alias") for each in rows[:MOST_ALIASES]]
    return [each for each in dict.fromkeys(found) if 0 < len(each) <= LONGEST_ALIAS and not set("/\0") & set(each)]

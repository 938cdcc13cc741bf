"""Counts that stay cheap: beyond a cap the number says so instead of being counted."""

from dataclasses import dataclass
from typing import Any

from django.db.models import IntegerField, QuerySet, Subquery

CAP = 10_000


@dataclass(frozen=True)
class Count:
    """How many; `capped` when there are more than `number`. Printed as "1,284" or "10,000+"."""

    number: int
    capped: bool = False

    def __str__(self) -> str:
        return f"{self.number:,}{'+' if self.capped else ''}"

    def __bool__(self) -> bool:
        return self.number > 0


def count_of(rows: QuerySet[Any], cap: int = CAP) -> Count:
    """The number of rows, looking at no more than `cap` + 1 of them."""
    found = rows.order_by().values("pk")[: cap + 1].count()
    return capped(found, cap)


class CappedCount(Subquery):
    """As an annotation: how many rows, looking at no more than `cap` + 1 of them; `capped` says what that means."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) AS counted)"

    def __init__(self, rows: QuerySet[Any], cap: int) -> None:
        super().__init__(rows.order_by().values("pk")[: cap + 1], output_field=IntegerField())


def capped(found: int, cap: int) -> Count:
    return Count(min(found, cap), found > cap)

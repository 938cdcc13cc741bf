"""Counts that stay cheap: beyond a cap the number says so instead of being counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import EmptyResultSet
from django.db import connection
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
    return counts_of([(rows, cap)])[0]


def counts_of(asked: Sequence[tuple[QuerySet[Any], int]]) -> list[Count]:
    """The same for several, by one query: pages show many counts."""
    said: list[str] = []
    values: list[Any] = []
    for rows, cap in asked:
        try:
            sql, parameters = rows.order_by().values("pk")[: cap + 1].query.sql_with_params()
        except EmptyResultSet:
            sql, parameters = "SELECT 1 WHERE 1 = 0", ()
        said.append(f"(SELECT COUNT(*) FROM ({sql}) AS counted)")  # noqa: S608  Django's SQL
        values += parameters
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(said)}", values)
        found = cursor.fetchone()
    return [capped(number, cap) for number, (_, cap) in zip(found, asked, strict=True)]


class CappedCount(Subquery):
    """As an annotation: how many rows, looking at no more than `cap` + 1 of them; `capped` says what that means."""

    template = "(SELECT COUNT(*) FROM (%(subquery)s) AS counted)"

    def __init__(self, rows: QuerySet[Any], cap: int) -> None:
        super().__init__(rows.order_by().values("pk")[: cap + 1], output_field=IntegerField())


def capped(found: int, cap: int) -> Count:
    return Count(min(found, cap), found > cap)

"""Pages of a long list by (key, id): no offset, so the last page costs what the first does and no row is met twice."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.db.models import F, Model, Q, QuerySet
from django.utils.dateparse import parse_datetime

Row = TypeVar("Row", bound=Model)


@dataclass(frozen=True)
class Order:
    """By a datetime column, then by id. Rows without a date come last in either direction."""

    field: str
    descending: bool = False

    def by(self, *, backwards: bool = False) -> list[Any]:
        down = self.descending != backwards
        column, nulls = F(self.field), {"nulls_first" if backwards else "nulls_last": True}
        return [column.desc(**nulls) if down else column.asc(**nulls), "-pk" if down else "pk"]

    def beyond(self, value: datetime | None, pk: int, *, backwards: bool = False) -> Q:
        """Rows on the far side of (value, pk); backwards: on the near side."""
        sign = "lt" if self.descending != backwards else "gt"
        undated = Q(**{f"{self.field}__isnull": True})
        if value is None:
            same = undated & Q(**{f"pk__{sign}": pk})
            return same | ~undated if backwards else same
        dated = Q(**{f"{self.field}__{sign}": value}) | Q(**{self.field: value, f"pk__{sign}": pk})
        return dated if backwards else dated | undated


@dataclass(frozen=True)
class Cursor:
    """Where a page starts: behind (or, backwards, before) this row. Opaque to people, checked on the way in."""

    value: datetime | None
    pk: int
    backwards: bool = False

    def __str__(self) -> str:
        moment = self.value.isoformat() if self.value else ""
        return f"{'b' if self.backwards else 'a'}~{self.pk}~{moment}"

    @classmethod
    def parse(cls, text: str) -> "Cursor | None":
        """None for anything that is not a cursor of ours: the list then starts at its beginning."""
        direction, _, rest = text[:80].partition("~")
        number, _, moment = rest.partition("~")
        if direction not in {"a", "b"} or not (number.isascii() and number.isdigit()) or len(number) > 18:
            return None
        try:
            value = parse_datetime(moment) if moment else None
        except ValueError:
            return None
        if moment and (value is None or value.tzinfo is None):
            return None
        return cls(value, int(number), direction == "b")


@dataclass(frozen=True)
class Page(Generic[Row]):
    rows: list[Row]
    earlier: str  # cursors; "" when there is nothing there
    later: str


def page_of(rows: QuerySet[Row], order: Order, cursor: Cursor | None, size: int) -> Page[Row]:
    """One page, by one query; one more only where a page backwards would be short."""
    backwards = cursor is not None and cursor.backwards
    part = rows.order_by(*order.by(backwards=backwards))
    if cursor:
        part = part.filter(order.beyond(cursor.value, cursor.pk, backwards=backwards))
    found = list(part[: size + 1])
    more = len(found) > size
    if backwards and not more:
        return page_of(rows, order, None, size)
    found = found[:size]
    if backwards:
        found.reverse()
    if not found:
        return Page([], "", "")

    def at(row: Row, *, back: bool) -> str:
        return str(Cursor(getattr(row, order.field), row.pk, back))

    return Page(
        rows=found,
        earlier=at(found[0], back=True) if cursor else "",
        later=at(found[-1], back=False) if backwards or more else "",
    )

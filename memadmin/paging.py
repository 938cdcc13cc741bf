"""Pages of a long list by (key, id): no offset, so the last page costs what the first does and no row is met twice.

Each query is one range of an index whose columns are the filter's equalities, the key and the id: it reads the rows of
the page and no others, however many there are, on both databases and without statistics.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import product
from typing import Any, Generic, TypeVar

from django.core.exceptions import EmptyResultSet
from django.db import connections
from django.db.models import Model, Q, QuerySet
from django.utils.dateparse import parse_datetime

Row = TypeVar("Row", bound=Model)
# Column → the values it may have, where a list spans several ranges of an index: each is read from its own beginning.
Split = Mapping[str, Sequence[Any]]
RANGES_PER_QUERY = 400  # SQLite takes 500


@dataclass(frozen=True)
class Order:
    """By a datetime column, then by id. Rows without a date come last in either direction."""

    field: str
    descending: bool = False
    always_dated: bool = False  # what has no date is no part of the list, and is not looked for

    def at(self, row: Any, *, back: bool = False) -> "Cursor":
        """Behind this row, or before it."""
        return Cursor(getattr(row, self.field), row.pk, back)

    def fixes(self, stretch: Q) -> bool:
        """Whether all its rows have the same value: they are in order by their ids alone."""
        return False

    def by(self, *, backwards: bool = False) -> list[str]:
        """For rows that all have a date, or all have none."""
        return [f"-{self.field}", "-pk"] if self.descending != backwards else [self.field, "pk"]

    def stretches(self, model: type[Model], cursor: "Cursor | None") -> list[Q]:
        """What lies beyond the cursor, in the order of the walk: the dated rows and those without a date."""
        backwards = cursor is not None and cursor.backwards
        dated, undated = Q(**{f"{self.field}__isnull": False}), Q(**{f"{self.field}__isnull": True})
        nullable = model._meta.get_field(self.field).null and not self.always_dated
        if cursor is None:
            return [dated, undated] if nullable else [dated]
        sign = "lt" if self.descending != backwards else "gt"
        further = Q(**{f"pk__{sign}": cursor.pk})
        if cursor.value is None:
            return [undated & further, dated] if backwards else [undated & further]
        ties = Q(**{f"{self.field}__{sign}": cursor.value}) | further
        rest = Q(**{f"{self.field}__{sign}e": cursor.value}) & ties
        return [rest] if backwards or not nullable else [rest, undated]


@dataclass(frozen=True)
class Shared(Order):
    """By a column that many rows share, then by id: these ids ascend in either direction. Of texts "" comes last.

    The cursor names the row alone: what it has in the column is looked up, and may be long.
    """

    text: bool = False

    def at(self, row: Any, *, back: bool = False) -> "Cursor":
        return Cursor(None, row.pk, back)

    def by(self, *, backwards: bool = False) -> list[str]:
        field = f"-{self.field}" if self.descending != backwards else self.field
        return [field, "-pk" if backwards else "pk"]

    def fixes(self, stretch: Q) -> bool:
        return any(isinstance(child, tuple) and child[0] == self.field for child in stretch.children)

    def stretches(self, model: type[Model], cursor: "Cursor | None") -> list[Q]:
        """Rows with the cursor's value, those with another one, and of texts those with none."""
        row = model._default_manager.filter(pk=cursor.pk).values_list(self.field) if cursor else None
        found = row.first() if row is not None else None
        some, none = Q(**{f"{self.field}__gt": ""}), Q(**{self.field: ""})
        if cursor is None or found is None:
            return [some, none] if self.text else [Q()]
        value, back = found[0], cursor.backwards
        same = Q(**{self.field: value, f"pk__{'lt' if back else 'gt'}": cursor.pk})
        if self.text and value == "":
            return [same, some] if back else [same]
        rest = Q(**{f"{self.field}__{'lt' if self.descending != back else 'gt'}": value})
        if not self.text:
            return [same, rest]
        return [same, rest & some] if back else [same, rest, none]


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
            if moment and (value is None or value.tzinfo is None):
                return None
            value = value.astimezone(UTC) if value else None
        except (ValueError, OverflowError):  # the latter: no time of any calendar
            return None
        return cls(value, int(number), direction == "b")


@dataclass(frozen=True)
class Page(Generic[Row]):
    rows: list[Row]
    earlier: str  # cursors; "" when there is nothing there
    later: str


def page_of(
    rows: QuerySet[Row], order: Order, cursor: Cursor | None, size: int, split: Split | None = None
) -> Page[Row]:
    """One page. Backwards it begins again at the first one where it would be short."""
    backwards = cursor is not None and cursor.backwards
    found = walk(rows, order, cursor, size + 1, split)
    more = len(found) > size
    if backwards and not more:
        return page_of(rows, order, None, size, split)
    found = found[:size]
    if backwards:
        found.reverse()
    if not found:
        return Page([], "", "")

    def at(row: Row, *, back: bool) -> str:
        return str(order.at(row, back=back))

    return Page(
        rows=found,
        earlier=at(found[0], back=True) if cursor else "",
        later=at(found[-1], back=False) if backwards or more else "",
    )


def walk(rows: QuerySet[Row], order: Order, cursor: Cursor | None, limit: int, split: Split | None = None) -> list[Row]:
    """The next `limit` rows from the cursor on, in the direction of the walk.

    By one query for what has a date, and where that is not enough one for what has none. With a `split`, which stands
    for a condition that `rows` lack, one more reads the rows.
    """
    found: list[Row] = []
    rows, split = _one_range(rows, split)
    for part in _parts(rows, order, cursor):
        wanted = limit - len(found)
        found += part[:wanted] if split is None else _rows_of(rows, _nearest(part, order, wanted, split))
        if len(found) >= limit:
            break
    return found


def walk_ids(
    rows: QuerySet[Any], order: Order, cursor: Cursor | None, limit: int, split: Split | None = None
) -> list[int]:
    """As `walk`, the primary keys alone."""
    found: list[int] = []
    rows, split = _one_range(rows, split)
    for part in _parts(rows, order, cursor):
        wanted = limit - len(found)
        near = part.values_list("pk", flat=True)[:wanted] if split is None else _nearest(part, order, wanted, split)
        found += near
        if len(found) >= limit:
            break
    return found


def _one_range(rows: QuerySet[Row], split: Split | None) -> tuple[QuerySet[Row], Split | None]:
    """A split with one combination is a filter."""
    if split and all(len(values) == 1 for values in split.values()):
        return rows.filter(**{name: values[0] for name, values in split.items()}), None
    return rows, split


def _parts(rows: QuerySet[Row], order: Order, cursor: Cursor | None) -> Iterator[QuerySet[Row]]:
    by = order.by(backwards=cursor is not None and cursor.backwards)
    for stretch in order.stretches(rows.model, cursor):
        yield rows.filter(stretch).order_by(*(by[-1:] if order.fixes(stretch) else by))


def first_of_each(
    part: QuerySet[Any, tuple[Any, ...]], split: Split, limit: int, merged: str = ""
) -> list[tuple[Any, ...]]:
    """The first `limit` rows (of `values_list`, as the database says them) for each combination of the split.

    Django makes the SQL of one, which takes longer than running it, and the others are made from that.
    `merged`: how the database orders them together; then these are the first of all.
    """
    each = list(product(*split.values()))
    if not each:
        return []
    marks = {name: _mark(values[0], number) for number, (name, values) in enumerate(split.items())}
    try:
        sql, parameters = part.filter(**marks)[:limit].query.sql_with_params()
    except EmptyResultSet:  # Django sees that nothing can be found
        return []
    places = [list(parameters).index(mark) for mark in marks.values()]
    found: list[tuple[Any, ...]] = []
    size = len(each) if merged else RANGES_PER_QUERY
    for start in range(0, len(each), size):
        lot = each[start : start + size]
        filled = [dict(zip(places, values, strict=True)) for values in lot]
        asked = [values.get(place, one) for values in filled for place, one in enumerate(parameters)]
        with connections[part.db].cursor() as cursor:
            together = " UNION ALL ".join([f"SELECT * FROM ({sql}) AS part"] * len(lot))  # noqa: S608  Django's
            cursor.execute(f"{together} ORDER BY {merged} LIMIT {limit}" if merged else together, asked)
            found += cursor.fetchall()
    return found


def _mark(value: Any, number: int) -> Any:
    """A value that no parameter has by chance."""
    return f"\ue000 {number}" if isinstance(value, str) else -(10**15) - number


def _nearest(part: QuerySet[Row], order: Order, limit: int, split: Split) -> list[int]:
    by = [str(name).startswith("-") for name in part.query.order_by]
    down, ids_down = by[0], by[-1]
    rows = part.values_list(order.field, "pk")
    if len(by) == 1:
        return sorted((pk for _, pk in first_of_each(rows, split, limit)), reverse=ids_down)[:limit]
    if isinstance(order, Shared) and order.text and connections[part.db].vendor != "sqlite":
        # It compares texts by a language; SQLite by their bytes, as we do.
        merged = f"1{' DESC' if down else ''}, 2{' DESC' if ids_down else ''}"
        return [pk for _, pk in first_of_each(rows, split, limit, merged)]
    found = first_of_each(rows, split, limit)
    if down != ids_down:
        found.sort(key=lambda row: row[1], reverse=ids_down)
        found.sort(key=lambda row: row[0], reverse=down)
        return [pk for _, pk in found[:limit]]
    found.sort(key=lambda row: ("" if row[0] is None else row[0], row[1]), reverse=down)
    return [pk for _, pk in found[:limit]]


def _rows_of(rows: QuerySet[Row], pks: list[int]) -> list[Row]:
    """The rows with these ids, in this order; found by id alone, whatever else was asked for."""
    if not pks:
        return []
    loaded = rows.order_by()
    loaded.query.clear_where()
    by_pk = {row.pk: row for row in loaded.filter(pk__in=pks)}
    return [by_pk[pk] for pk in pks if pk in by_pk]

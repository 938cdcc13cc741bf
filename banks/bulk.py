"""Many rows, few statements. For imports, where model instances and Django's SQL would be most of the time."""

from collections.abc import Sequence
from typing import Any

from django.db import connection
from django.db.models import Model

Rows = list[tuple[Any, ...]]


def reserve_ids(model: type[Model], count: int) -> range | list[int]:
    """Primary keys nobody else will get. To be called, and used up, inside the transaction that inserts the rows.

    SQLite: our transactions take the write lock at their beginning, so the next numbers are ours.
    """
    table = model._meta.db_table
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT seq FROM sqlite_sequence WHERE name = %s", [table])
            row = cursor.fetchone()
            first = (row[0] if row else 0) + 1
            return range(first, first + count)
        cursor.execute("SELECT nextval(pg_get_serial_sequence(%s, 'id')) FROM generate_series(1, %s)", [table, count])
        return [row[0] for row in cursor.fetchall()]


class Inserter:
    """Inserts rows of one model. `columns` vary per row; all other fields have the value of a fresh instance.

    Values are as the database takes them: text, numbers, bytes, and moments from `adapt_datetimefield_value`.
    """

    def __init__(self, model: type[Model], columns: Sequence[str], **constants: Any) -> None:
        fresh = model(**constants)
        others = [field for field in model._meta.concrete_fields if not field.primary_key]
        fields = [field for field in others if field.column not in columns]
        values = [field.get_db_prep_save(getattr(fresh, field.attname), connection) for field in fields]
        literals = [_literal(value) for value in values]
        self._constants = [value for value, literal in zip(values, literals, strict=True) if literal is None]
        names = [_quoted(name) for name in [*columns, *[str(field.column) for field in fields]]]
        marks = ["%s"] * len(columns) + [literal or "%s" for literal in literals]
        table = _quoted(model._meta.db_table)
        self._sql = f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join(marks)})"  # noqa: S608  our names

    def insert(self, rows: Sequence[Sequence[Any]]) -> None:
        if rows:
            constants = self._constants
            with connection.cursor() as cursor:
                cursor.executemany(self._sql, [(*row, *constants) for row in rows])


def _literal(value: Any) -> str | None:
    """How SQL says it, for what is as plain as most defaults: each value that is bound costs time in every row."""
    if value is None:
        return "NULL"
    if value == "":
        return "''"
    return str(value).upper() if type(value) in (bool, int) else None


def rows_by(
    model: type[Model], columns: Sequence[str], keys: Sequence[str], wanted: Sequence[Any], **equal: Any
) -> Rows:
    """`columns` of the rows whose `keys` are among `wanted`, and `equal` where that is asked for.

    `wanted` holds the values one behind the other: with two keys, those of one row take two places.
    """
    if not wanted:
        return []
    conditions = [f"{_quoted(name)} = %s" for name in equal]
    if len(keys) == 1:
        conditions.append(f"{_quoted(keys[0])} IN ({', '.join(['%s'] * len(wanted))})")
    else:
        one = f"({', '.join(['%s'] * len(keys))})"
        among = ", ".join([one] * (len(wanted) // len(keys)))
        conditions.append(f"({', '.join(map(_quoted, keys))}) IN (VALUES {among})")
    names, table = ", ".join(map(_quoted, columns)), _quoted(model._meta.db_table)
    sql = f"SELECT {names} FROM {table} WHERE {' AND '.join(conditions)}"  # noqa: S608  our names
    with connection.cursor() as cursor:
        cursor.execute(sql, [*equal.values(), *wanted])
        found: Rows = cursor.fetchall()
        return found


def _quoted(name: str) -> str:
    return connection.ops.quote_name(name)

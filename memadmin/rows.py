"""Many new rows in few statements.

Django's bulk_create prepares every value of every row by itself, which takes longer than all that the database does. Of
rows that are mostly alike each value is prepared once here.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Any

from django.db import connection
from django.db.models import Field, Model

VALUES = 5_000  # in one statement; SQLite takes 32,766


def insert(rows: Sequence[Model], *, ignore_conflicts: bool = False) -> None:
    """Stores new rows of one model, whose keys the database makes; they get them, unless conflicts are ignored.

    Otherwise as bulk_create: no signals, and several statements belong into a transaction.
    """
    if not rows:
        return
    options = rows[0]._meta
    fields = [field for field in options.concrete_fields if not field.primary_key]
    at_once = max(VALUES // len(fields), 1)
    for at in range(0, len(rows), at_once):
        _insert(rows[at : at + at_once], options, fields, ignore_conflicts)


def _insert(rows: Sequence[Model], options: Any, fields: "Sequence[Field[Any, Any]]", ignore_conflicts: bool) -> None:
    quoted = connection.ops.quote_name
    columns = ", ".join(quoted(str(field.column)) for field in fields)
    marks = ", ".join([f"({', '.join(['%s'] * len(fields))})"] * len(rows))
    end = "ON CONFLICT DO NOTHING" if ignore_conflicts else f"RETURNING {quoted(options.pk.column)}"
    values = zip(*(_prepared(field, rows) for field in fields), strict=True)
    with connection.cursor() as cursor:
        into = f"INSERT INTO {quoted(options.db_table)} ({columns})"
        cursor.execute(f"{into} VALUES {marks} {end}", list(chain.from_iterable(values)))
        keys = [] if ignore_conflicts else cursor.fetchall()
    for row, (key,) in zip(rows, keys, strict=not ignore_conflicts):
        row.pk = key
        row._state.adding, row._state.db = False, connection.alias


def _prepared(field: "Field[Any, Any]", rows: Sequence[Model]) -> Iterator[Any]:
    known: dict[Any, Any] = {}
    for row in rows:
        value = field.pre_save(row, add=True)
        # True is 1, but not in a database; JSON that looks alike is alike.
        key = (type(value), repr(value) if isinstance(value, list | dict) else value)
        if key not in known:
            known[key] = field.get_db_prep_save(value, connection)
        yield known[key]

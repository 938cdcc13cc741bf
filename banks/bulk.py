"""Many rows, few statements. For imports, where building a model instance per row would be most of the time."""

from collections.abc import Sequence
from typing import Any

from django.db import connection
from django.db.models import Model


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
        quote = connection.ops.quote_name
        names = ", ".join(quote(name) for name in [*columns, *[str(field.column) for field in fields]])
        marks = ", ".join(["%s"] * (len(columns) + len(fields)))
        self._constants = values
        self._sql = f"INSERT INTO {quote(model._meta.db_table)} ({names}) VALUES ({marks})"  # noqa: S608  our names

    def insert(self, rows: Sequence[Sequence[Any]]) -> None:
        if rows:
            constants = self._constants
            with connection.cursor() as cursor:
                cursor.executemany(self._sql, [(*row, *constants) for row in rows])

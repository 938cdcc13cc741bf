"""How the database would read what a page asks for."""

from collections.abc import Sequence
from typing import Any

from django.db import connection
from django.db.models import Model


def plan_of(sql: str, values: Any) -> str:
    """PostgreSQL, which reads and sorts small tables whole, is asked to avoid that, for this plan alone."""
    with connection.cursor() as cursor:
        _allow(cursor, "off")
        cursor.execute(("EXPLAIN QUERY PLAN " if connection.vendor == "sqlite" else "EXPLAIN ") + sql, values)
        found = "\n".join(str(row[-1]) for row in cursor.fetchall())
        # What runs after it would count as dear, and be compiled for seconds.
        _allow(cursor, "on")
        return found


def _allow(cursor: Any, whether: str) -> None:
    if connection.vendor == "postgresql":
        for way in ("seqscan", "bitmapscan", "sort"):
            cursor.execute(f"SET LOCAL enable_{way} = {whether}")


class Plans:
    """An execute wrapper that asks for the plan of each query of these tables before it runs."""

    def __init__(self, tables: Sequence[type[Model]]) -> None:
        self.names = [table._meta.db_table for table in tables]
        self.found: list[tuple[str, str]] = []
        self.busy = False

    def __call__(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if not self.busy and not many and sql.startswith("SELECT") and any(name in sql for name in self.names):
            self.busy = True
            self.found.append((sql, plan_of(sql, params)))
            self.busy = False
        return execute(sql, params, many, context)

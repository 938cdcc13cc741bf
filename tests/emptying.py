"""Emptying the database after a test that commits: only the tables that it filled, and nothing is made anew.

Django's own way truncates all tables and writes the rows about its models again, which on PostgreSQL takes longer than
most tests. The tables of words (memadmin.fulltext), that Django does not know, are emptied too.
"""

from typing import Any

from django.db import connection, transaction

# What the migrations themselves fill; no test changes it.
_KEPT = {"django_migrations", "django_content_type", "auth_permission"}
# An FTS5 table is a view of others ("shadow"), which are its own business.
_TABLES = {
    "sqlite": "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type IN ('table', 'virtual') "
    "AND name NOT LIKE 'sqlite%'",
    "postgresql": "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()",
}
_tables: list[str] = []


def empty(test_case: Any = None) -> None:
    """Deletes all rows in one transaction, in any order: foreign keys are looked at when it ends."""
    with transaction.atomic(), connection.cursor() as cursor:
        if not _tables:
            cursor.execute(_TABLES[connection.vendor])
            _tables.extend(sorted({name for (name,) in cursor.fetchall()} - _KEPT))
        cursor.execute(" UNION ALL ".join(f"SELECT '{name}' WHERE EXISTS (SELECT 1 FROM {name})" for name in _tables))
        for (name,) in cursor.fetchall():
            cursor.execute(f"DELETE FROM {name}")

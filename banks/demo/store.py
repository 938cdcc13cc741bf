"""Where the demo server keeps its banks: one SQLite file, or memory when there is none."""

import json
import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

_SCHEMA = """
CREATE TABLE IF NOT EXISTS banks (
  bank_id TEXT PRIMARY KEY, name TEXT NOT NULL, mission TEXT NOT NULL DEFAULT '',
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL, last_write_at TEXT
);
CREATE TABLE IF NOT EXISTS documents (
  bank_id TEXT NOT NULL, id TEXT NOT NULL, text TEXT NOT NULL, content_hash TEXT NOT NULL,
  created_at TEXT NOT NULL, updated_at TEXT NOT NULL, tags TEXT NOT NULL, metadata TEXT, params TEXT, scopes TEXT,
  PRIMARY KEY (bank_id, id)
);
CREATE TABLE IF NOT EXISTS chunks (
  bank_id TEXT NOT NULL, document_id TEXT NOT NULL, number INTEGER NOT NULL, text TEXT NOT NULL,
  PRIMARY KEY (bank_id, document_id, number)
);
CREATE TABLE IF NOT EXISTS facts (
  id TEXT PRIMARY KEY, bank_id TEXT NOT NULL, document_id TEXT, chunk INTEGER, subject TEXT NOT NULL DEFAULT '',
  text TEXT NOT NULL, type TEXT NOT NULL, context TEXT NOT NULL DEFAULT '', mentioned_at TEXT, occurred_start TEXT,
  occurred_end TEXT, entities TEXT NOT NULL, tags TEXT NOT NULL, metadata TEXT NOT NULL, state TEXT NOT NULL DEFAULT
  'valid', invalidation_reason TEXT, invalidated_at TEXT, edited_at TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT
  NULL, consolidated_at TEXT, sources TEXT NOT NULL DEFAULT '[]'
);
CREATE INDEX IF NOT EXISTS facts_of_document ON facts (bank_id, document_id, chunk);
CREATE INDEX IF NOT EXISTS facts_of_subject ON facts (bank_id, subject);
CREATE INDEX IF NOT EXISTS facts_of_bank ON facts (bank_id, state, mentioned_at);
CREATE TABLE IF NOT EXISTS operations (
  id TEXT PRIMARY KEY, bank_id TEXT NOT NULL, parent_id TEXT, type TEXT NOT NULL, status TEXT NOT NULL, items TEXT,
  items_count INTEGER NOT NULL, document_id TEXT, error_message TEXT, retry_count INTEGER NOT NULL DEFAULT 0,
  next_retry_at TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL, completed_at TEXT, due_at TEXT,
  facts_count INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX IF NOT EXISTS operations_due ON operations (due_at);
CREATE INDEX IF NOT EXISTS operations_of_bank ON operations (bank_id, created_at);
CREATE INDEX IF NOT EXISTS operations_of_parent ON operations (parent_id);
CREATE TABLE IF NOT EXISTS mental_models (
  bank_id TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, source_query TEXT NOT NULL, content TEXT NOT NULL,
  based_on TEXT NOT NULL, created_at TEXT NOT NULL, tags TEXT NOT NULL DEFAULT '[]', max_tokens INTEGER NOT NULL
  DEFAULT 2048, trigger TEXT NOT NULL DEFAULT '{}', refreshed_at TEXT, PRIMARY KEY (bank_id, id)
);
CREATE TABLE IF NOT EXISTS mental_model_versions (
  number INTEGER PRIMARY KEY, bank_id TEXT NOT NULL, model_id TEXT NOT NULL, content TEXT NOT NULL,
  based_on TEXT NOT NULL, changed_at TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS mental_model_versions_of ON mental_model_versions (bank_id, model_id);
CREATE TABLE IF NOT EXISTS directives (
  id TEXT PRIMARY KEY, bank_id TEXT NOT NULL, name TEXT NOT NULL, content TEXT NOT NULL, priority INTEGER NOT NULL,
  is_active INTEGER NOT NULL, tags TEXT NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS directives_of_bank ON directives (bank_id);
CREATE TABLE IF NOT EXISTS events (
  number INTEGER PRIMARY KEY, bank_id TEXT NOT NULL, document_id TEXT NOT NULL, kind TEXT NOT NULL, fact_id TEXT,
  facts_added INTEGER NOT NULL DEFAULT 0, facts_removed INTEGER NOT NULL DEFAULT 0, operation_id TEXT,
  created_at TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS events_of_document ON events (bank_id, document_id);
CREATE TABLE IF NOT EXISTS config (
  bank_id TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (bank_id, name)
);
CREATE TABLE IF NOT EXISTS webhooks (
  id TEXT PRIMARY KEY, bank_id TEXT NOT NULL, url TEXT NOT NULL, secret TEXT NOT NULL, events TEXT NOT NULL,
  enabled INTEGER NOT NULL, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS deliveries (
  id TEXT PRIMARY KEY, webhook_id TEXT NOT NULL, event_id TEXT NOT NULL, event_type TEXT NOT NULL, body TEXT NOT NULL,
  status TEXT NOT NULL, attempts INTEGER NOT NULL DEFAULT 0, due_at TEXT, last_response_status INTEGER,
  last_error TEXT, created_at TEXT NOT NULL, updated_at TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS deliveries_due ON deliveries (status, due_at);
CREATE TABLE IF NOT EXISTS failures (key TEXT PRIMARY KEY, count INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS notes (key TEXT PRIMARY KEY, value TEXT NOT NULL);
"""

# Columns that tables of earlier versions lack; a new file has them from the beginning.
_ADDED = {
    "mental_models": {
        "tags": "TEXT NOT NULL DEFAULT '[]'",
        "max_tokens": "INTEGER NOT NULL DEFAULT 2048",
        "trigger": "TEXT NOT NULL DEFAULT '{}'",
        "refreshed_at": "TEXT",
    },
    "operations": {"model_id": "TEXT"},
}

Row = sqlite3.Row


class Store:
    """SQL with the few helpers that the handlers share. Not for several threads at once: the server holds a lock."""

    def __init__(self, file: Path | None) -> None:
        if file:
            file.parent.mkdir(parents=True, exist_ok=True)
        self._db = sqlite3.connect(file or ":memory:", check_same_thread=False, isolation_level=None)
        self._db.row_factory = sqlite3.Row
        if file:
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
        self._db.executescript(_SCHEMA)
        for table, columns in _ADDED.items():
            known = {row["name"] for row in self._db.execute(f"PRAGMA table_info({table})")}
            for name in columns.keys() - known:
                self._db.execute(f"ALTER TABLE {table} ADD COLUMN {name} {columns[name]}")

    def close(self) -> None:
        self._db.close()

    def begin(self) -> None:
        self._db.execute("BEGIN IMMEDIATE")

    def commit(self) -> None:
        self._db.execute("COMMIT")

    def rollback(self) -> None:
        if self._db.in_transaction:
            self._db.execute("ROLLBACK")

    def rows(self, sql: str, *values: Any) -> list[Row]:
        return self._db.execute(sql, values).fetchall()

    def row(self, sql: str, *values: Any) -> Row | None:
        found: Row | None = self._db.execute(sql, values).fetchone()
        return found

    def number(self, sql: str, *values: Any) -> int:
        found = self.row(sql, *values)
        return int(found[0] or 0) if found else 0

    def run(self, sql: str, *values: Any) -> int:
        """Returns how many rows were changed."""
        return self._db.execute(sql, values).rowcount

    def insert(self, table: str, values: dict[str, Any], *, replace: bool = False) -> None:
        """`table` and the keys are our own words, never a caller's."""
        names, marks = ", ".join(values), ", ".join("?" for _ in values)
        verb = "INSERT OR REPLACE" if replace else "INSERT"
        self._db.execute(f"{verb} INTO {table} ({names}) VALUES ({marks})", list(values.values()))


def pack(value: Any) -> str | None:
    """JSON for a column; None stays None."""
    return None if value is None else json.dumps(value, ensure_ascii=False)


def unpack(value: str | None) -> Any:
    return None if value is None else json.loads(value)


def stamp(moment: datetime) -> str:
    """One fixed-width form, so that text order is time order."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def like(text: str) -> str:
    """A LIKE pattern for "contains", to be used with ESCAPE '\\'."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def marks(values: Iterable[Any]) -> str:
    """Placeholders for an IN list."""
    return ", ".join("?" for _ in values)

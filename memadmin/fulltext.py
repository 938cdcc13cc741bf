"""Full-text indexes: which rows of a table hold the words that a person typed.

The only place that knows how the databases differ. SQLite keeps the words in an FTS5 table, PostgreSQL as a tsvector
with a GIN index. Neither splits or folds anything itself: its version and its locale do not change what is found.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import connection
from django.db.models import F, Q
from django.db.models.expressions import RawSQL
from django.db.models.lookups import In

from memadmin.terms import WORDS, Phrase, phrases_of, words_of

# Between the parts of a row, so that no phrase reaches across: a character that is in no word.
GAP = "\ue000"
# Databases without statistics take rare words for common ones and would walk a whole list for one, or fetch a million
# rows by their ids. So many are fetched; of more, a list in its own order soon meets enough for a page.
FEW = 1_000

_REPLACE = {
    "sqlite": "INSERT OR REPLACE INTO {table} (rowid, words) VALUES (%s, %s)",
    "postgresql": "INSERT INTO {table} ({key}, words) SELECT {key}, words::tsvector "
    "FROM unnest(%s::bigint[], %s::text[]) AS new ({key}, words) "
    "ON CONFLICT ({key}) DO UPDATE SET words = excluded.words",
}
_ADD = {
    "sqlite": "INSERT INTO {table} (rowid, words) SELECT id, words FROM (SELECT %s AS id, %s AS words) "
    "WHERE NOT EXISTS (SELECT 1 FROM {table} WHERE rowid = id)",  # FTS5 knows no OR IGNORE
    "postgresql": _REPLACE["postgresql"].replace("UPDATE SET words = excluded.words", "NOTHING"),
}
_FORGET = {"sqlite": "DELETE FROM {table} WHERE rowid = %s", "postgresql": "DELETE FROM {table} WHERE {key} = %s"}
_FIND = {
    "sqlite": "SELECT rowid FROM {table} WHERE {table} MATCH %s",
    "postgresql": "SELECT {key} FROM {table} WHERE words @@ %s::tsquery",
}


class Index:
    """The words of the rows of one table, by their primary keys. `table` is made by a migration; `key`: its column."""

    def __init__(self, table: str, key: str) -> None:
        self._names = {"table": table, "key": key}

    def replace(self, rows: Sequence[tuple[int, list[str]]]) -> None:
        """Makes rows, as (primary key, words), findable by these words only."""
        self._keep(rows, _REPLACE)

    def add(self, rows: Sequence[tuple[int, list[str]]]) -> None:
        """The same for rows that have no words yet; the others keep theirs."""
        self._keep(rows, _ADD)

    def forget(self, pk: int) -> None:
        with connection.cursor() as cursor:
            cursor.execute(self._sql(_FORGET), [pk])

    def matching(self, query: str) -> Q | None:
        """The rows in which all that was asked for occurs; None when there is not a single word in it ("->")."""
        phrases = phrases_of(query)
        if not phrases:
            return None
        if connection.vendor == "sqlite":
            return found_by(self._sql(_FIND), [" ".join(map(_fts5, phrases))])
        return found_by(self._sql(_FIND), [" & ".join(map(_tsquery, phrases))])

    def _keep(self, rows: Sequence[tuple[int, list[str]]], sql: dict[str, str]) -> None:
        with connection.cursor() as cursor:
            if connection.vendor == "sqlite":
                cursor.executemany(self._sql(sql), [(pk, " ".join(words)) for pk, words in rows])
            else:
                vectors = [_tsvector(words) for _, words in rows]
                cursor.execute(self._sql(sql), [[pk for pk, _ in rows], vectors])

    def _sql(self, by_vendor: dict[str, str]) -> str:
        return by_vendor[connection.vendor].format(**self._names)


def parted(texts: Iterable[str]) -> list[str]:
    """The words of several texts that belong to one row. What is beyond the bounds of memadmin.terms is left out."""
    words: list[str] = []
    for text in texts:
        if len(words) >= WORDS:
            break
        if found := words_of(text):
            words += [GAP, *found] if words else found
    return words[:WORDS]


def found_by(sql: str, values: list[Any]) -> Q:
    """The rows whose primary keys a query of one column finds, in the way that suits their number."""
    with connection.cursor() as cursor:
        cursor.execute(f"{sql} LIMIT %s", [*values, FEW + 1])
        few = [pk for (pk,) in cursor.fetchall()]
    if len(few) <= FEW:
        return Q(pk__in=few)
    rows = RawSQL(sql, values)  # noqa: S611  values are parameters
    # "+ 0": a list is walked in its order, in an index that has the ids, not fetched by id and sorted.
    return Q(In(F("pk") + 0, rows)) if connection.vendor == "sqlite" else Q(pk__in=rows)


def names_rows(found: Q) -> bool:
    """Whether `found_by` has fetched them: they are few, and in any order at once."""
    return any(isinstance(child, tuple) and isinstance(child[1], list) for child in found.children)


def _tsvector(words: list[str]) -> str:
    """As PostgreSQL reads it: each word with its positions."""
    positions: dict[str, list[str]] = {}
    for position, word in enumerate(words, start=1):
        positions.setdefault(word, []).append(str(position))
    return " ".join(f"'{word}':{','.join(places)}" for word, places in positions.items() if word != GAP)


def _fts5(phrase: Phrase) -> str:
    return f'"{" ".join(phrase.words)}"{"*" if phrase.open else ""}'


def _tsquery(phrase: Phrase) -> str:
    adjacent = " <-> ".join(f"'{word}'" for word in phrase.words)
    return f"({adjacent}:*)" if phrase.open else f"({adjacent})"

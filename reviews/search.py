"""Full-text search: an entry is found by its document id and the beginning of its text (how much: reviews/terms.py).

The only place that knows how the databases differ. SQLite keeps the words in an FTS5 table, PostgreSQL as a tsvector
with a GIN index. Neither splits or folds anything itself: its version and its locale do not change what is found.
"""

import re
from collections.abc import Iterable

from django.db import connection
from django.db.models import F, Q
from django.db.models.expressions import RawSQL
from django.db.models.lookups import In

from reviews.terms import WORDS, Phrase, phrases_of, words_of

# Between id and text, so that no phrase reaches across: a character that is in no word.
GAP = "\ue000"
# No id of ours has them, and a database may refuse the question.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

_REPLACE = {
    "sqlite": "INSERT OR REPLACE INTO reviews_search (rowid, words) VALUES (%s, %s)",
    "postgresql": "INSERT INTO reviews_search (entry_id, words) SELECT entry_id, words::tsvector "
    "FROM unnest(%s::bigint[], %s::text[]) AS new (entry_id, words) "
    "ON CONFLICT (entry_id) DO UPDATE SET words = excluded.words",
}
_ADD = {
    "sqlite": "INSERT INTO reviews_search (rowid, words) SELECT id, words FROM (SELECT %s AS id, %s AS words) "
    "WHERE NOT EXISTS (SELECT 1 FROM reviews_search WHERE rowid = id)",  # FTS5 knows no OR IGNORE
    "postgresql": _REPLACE["postgresql"].replace("UPDATE SET words = excluded.words", "NOTHING"),
}
_FORGET = {
    "sqlite": "DELETE FROM reviews_search WHERE rowid = %s",
    "postgresql": "DELETE FROM reviews_search WHERE entry_id = %s",
}
_FIND = {
    "sqlite": "SELECT rowid FROM reviews_search WHERE reviews_search MATCH %s",
    "postgresql": "SELECT entry_id FROM reviews_search WHERE words @@ %s::tsquery",
}
# PostgreSQL takes words that it has no statistics of for common ones, and would walk the whole list for a rare one.
# So many entries are fetched by their ids; of more, a list in its own order soon meets enough for a page.
FEW = 1_000


def index(*, entry_id: int, document_id: str, text: str) -> None:
    """Makes an entry findable, by its new text only. To be called in the transaction that stores the text."""
    _keep([(entry_id, _indexed(document_id, text))], _REPLACE)


def index_ids(rows: Iterable[tuple[int, str]]) -> None:
    """Makes new entries, as (entry id, document id), findable before their texts are loaded."""
    _keep([(entry_id, _indexed(document_id, "")) for entry_id, document_id in rows], _ADD)


def forget(*, entry_id: int) -> None:
    """What is erased or removed must not be found any more."""
    with connection.cursor() as cursor:
        cursor.execute(_FORGET[connection.vendor], [entry_id])


def matching(query: str) -> Q:
    """The entries in which all that was asked for occurs. Any string is a query, none is an error.

    A query without a single word ("->") is looked for in the document ids as it is.
    """
    phrases = phrases_of(query)
    if not phrases:
        return Q(document_id__icontains=_UNSTORABLE.sub("\ufffd", query))
    if connection.vendor == "sqlite":
        rows = RawSQL(_FIND["sqlite"], [" ".join(map(_fts5, phrases))])  # noqa: S611  a parameter
        # "+ 0": a list is walked in its order, in an index that has the ids, not fetched by id and sorted.
        return Q(In(F("pk") + 0, rows))
    asked = " & ".join(map(_tsquery, phrases))
    few = _first(asked, FEW + 1)
    return Q(pk__in=few if len(few) <= FEW else RawSQL(_FIND["postgresql"], [asked]))  # noqa: S611  a parameter


def _first(asked: str, count: int) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(f"{_FIND['postgresql']} LIMIT %s", [asked, count])
        return [entry_id for (entry_id,) in cursor.fetchall()]


def _indexed(document_id: str, text: str) -> list[str]:
    return [*words_of(document_id), GAP, *words_of(text)][:WORDS]


def _keep(rows: list[tuple[int, list[str]]], sql: dict[str, str]) -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.executemany(sql["sqlite"], [(entry_id, " ".join(words)) for entry_id, words in rows])
        else:
            ids, vectors = [entry_id for entry_id, _ in rows], [_tsvector(words) for _, words in rows]
            cursor.execute(sql["postgresql"], [ids, vectors])


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

"""Fills a database with a desk that has been in use: many banks, most memories pending, the others decided and logged.

The database makes the rows itself: a million in some seconds. Numbers that look like chance are `n * prime % range`.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from django.db import connection
from django.db.models import Model

from banks.models import Bank, Blob, Membership, Role, Server, Write
from memadmin.accounts.models import User
from reviews.models import Decision, ReviewEntry

OPERATOR, REVIEWER, COLLEAGUE = "root", "mira", "ben"
PREVIEW = ": the checkout service keeps its feature flags in Consul, not in the database, since the move in March."

# Of thousand memories: 200 approved by time, 80 approved and 20 deleted by a person; of the pending 20 are flagged,
# 10 could not be loaded and 10 have no date.
FATE = "n * 7919 % 1000"
STATE = f"CASE WHEN {FATE} < 280 THEN 'approved' WHEN {FATE} < 300 THEN 'deleted' ELSE 'pending' END"
VIA = f"CASE WHEN {FATE} < 200 THEN 'expiry' WHEN {FATE} < 300 THEN 'person' ELSE '' END"
AGE = "n * 15485863 % 596160"  # seconds, up to 6.9 days


def fill(entries: int, banks: int, seen: int) -> dict[str, int]:
    """`seen` of the banks are shown to REVIEWER, all of them to OPERATOR."""
    people = {name: _person(name, is_superuser=name == OPERATOR) for name in (OPERATOR, REVIEWER, COLLEAGUE)}
    server = Server.objects.create(name="bench", base_url="http://127.0.0.1:9", health=Server.Health.OK)
    made = [
        Bank.objects.create(server=server, bank_id=f"bank-{n}", bank_hash=Bank.hash_of(f"bank-{n}"))
        for n in range(banks)
    ]
    for bank in made[:: max(banks // seen, 1)][:seen]:
        Membership.objects.create(user=people[REVIEWER], bank=bank, role=Role.REVIEWER)
    text = Blob.objects.store("The checkout service keeps its feature flags in Consul.").pk
    with filling((ReviewEntry, Write, Decision)) as cursor:
        insert(cursor, ReviewEntry, _entries(made[0].pk, banks, text), series(), [entries])
        decided = "FROM reviews_reviewentry WHERE decided_at IS NOT NULL"
        insert(cursor, Write, _writes(people[COLLEAGUE], text), decided)
        insert(cursor, Decision, _decisions(people, text), decided)
    return {"entries": ReviewEntry.objects.count(), "writes": Write.objects.count()}


def _person(name: str, **values: Any) -> User:
    return User.objects.create_user(username=name, password="a long enough password", is_staff=True, **values)


def _entries(first_bank: int, banks: int, text: str) -> dict[str, str]:
    enqueued = f"CASE WHEN {FATE} >= 330 AND {FATE} < 340 THEN NULL ELSE {ago(AGE)} END"
    return {
        "id": "n",
        # The first banks hold more than the last ones.
        "bank_id": f"{first_bank} + {banks} * (n * 104729 % 1000) * (n * 104729 % 1000) / 1000000",
        "document_id": "'sessions/2026/' || n || '.md'",
        "document_hash": digest("n"),
        "state": STATE,
        "version": f"CASE WHEN {FATE} < 300 THEN 2 ELSE 1 END",
        "project": "'/home/dev/project-' || (n * 31 % 300)",
        "reason": "CASE n % 4 WHEN 0 THEN 'compact' WHEN 1 THEN 'idle' WHEN 2 THEN 'session-end' ELSE '' END",
        "language": "'en'",
        "enqueued_at": enqueued,
        "age_from": enqueued,
        "expires_at": f"CASE WHEN {FATE} < 300 OR {FATE} >= 340 THEN {ago(f'{AGE} - 604800')} END",
        "first_imported_at": ago(AGE),
        "created": ago(AGE),
        "load_state": f"CASE WHEN {FATE} >= 320 AND {FATE} < 330 THEN 'unreachable' ELSE 'loaded' END",
        "load_after": "NULL",
        "loaded_at": ago(AGE),
        "text_id": f"'{text}'",
        "fact_count": "3",
        "content_hash": digest("n"),
        "preview": f"'Memory ' || n || '{PREVIEW}'",
        "danger": _true(f"{FATE} >= 300 AND {FATE} < 320"),
        "decided_via": VIA,
        "decided_by": f"CASE WHEN {VIA} = 'person' THEN '{COLLEAGUE}' ELSE '' END",
        "decided_at": f"CASE WHEN {FATE} < 300 THEN {ago('n * 15485863 % 2592000')} END",
    }


def _writes(colleague: User, text: str) -> dict[str, str]:
    return {
        "id": "id",
        "kind": "CASE state WHEN 'deleted' THEN 'delete' ELSE 'approve' END",
        "bank_id": "bank_id",
        "slot": "CASE state WHEN 'deleted' THEN document_hash ELSE '' END",
        "actor_id": f"CASE decided_via WHEN 'person' THEN {colleague.pk} END",
        "via": "CASE decided_via WHEN 'person' THEN 'web' ELSE 'expiry' END",
        "document_id": "document_id",
        "document_hash": "document_hash",
        "before_id": f"'{text}'",
        "operation_id": "gen_random_uuid()" if connection.vendor == "postgresql" else "lower(hex(randomblob(16)))",
        "state": "CASE WHEN id % 25000 = 7 THEN 'attention' ELSE 'done' END",
        **dict.fromkeys(("not_before", "occurred_at", "created", "finished"), "decided_at"),
    }


def _decisions(people: dict[str, User], text: str) -> dict[str, str]:
    by = " ".join(f"WHEN {number} THEN {person.pk}" for number, person in enumerate(people.values()))
    return {
        "id": "id",
        "entry_id": "id",
        "verdict": "state",
        "decided_via": "decided_via",
        "user_id": f"CASE decided_via WHEN 'person' THEN CASE id % 3 {by} END END",
        "version": "1",
        "text_hash": f"'{text}'",
        "write_id": "id",
        "at": "decided_at",
    }


# ── how the two databases say it ─────────────────────────────────────────────────────────────────────────────


@contextmanager
def filling(models: Sequence[type[Model]]) -> Iterator[Any]:
    """A cursor to fill these tables with; afterwards the database knows what is in them."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":  # of this connection alone: pages are read by later ones
            cursor.execute("PRAGMA cache_size = -3000000")
            cursor.execute("PRAGMA synchronous = OFF")
        with _indexed_afterwards(cursor, models):
            yield cursor
        if connection.vendor == "postgresql":
            for model in models:
                table = model._meta.db_table
                cursor.execute(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))")
        cursor.execute("VACUUM ANALYZE" if connection.vendor == "postgresql" else "PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


@contextmanager
def _indexed_afterwards(cursor: Any, models: Sequence[type[Model]]) -> Iterator[None]:
    """Indexes of a million rows are made in a tenth of the time once the rows are there."""
    tables = ", ".join(f"'{model._meta.db_table}'" for model in models)
    if connection.vendor == "postgresql":
        cursor.execute(
            f"SELECT indexname, indexdef FROM pg_indexes WHERE tablename IN ({tables})"
            " AND NOT EXISTS (SELECT 1 FROM pg_constraint WHERE conname = indexname)"
        )
    else:
        cursor.execute(
            f"SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name IN ({tables}) AND sql > ''"
        )
    indexes = cursor.fetchall()
    for name, _ in indexes:
        cursor.execute(f'DROP INDEX "{name}"')
    yield
    for _, sql in indexes:
        cursor.execute(sql)


def insert(
    cursor: Any, model: type[Model], columns: dict[str, str], source: str, arguments: Sequence[Any] = ()
) -> None:
    """`columns` are expressions over `source`; the others have the value of a fresh instance."""
    fresh = model(version=1) if model is Decision else model()
    others = [field for field in model._meta.concrete_fields if field.column not in columns]
    values = [field.get_db_prep_save(getattr(fresh, field.attname), connection) for field in others]
    names = ", ".join(f'"{name}"' for name in [*columns, *[str(field.column) for field in others]])
    said = ", ".join([*(text.replace("%", "%%") for text in columns.values()), *["%s"] * len(others)])
    cursor.execute(f'INSERT INTO "{model._meta.db_table}" ({names}) SELECT {said} {source}', [*values, *arguments])


def series() -> str:
    if connection.vendor == "postgresql":
        return "FROM (SELECT generate_series::bigint AS n FROM generate_series(1, %s)) AS series"
    return (
        "FROM (WITH RECURSIVE series(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series LIMIT %s) SELECT n FROM series)"
    )


def ago(seconds: str) -> str:
    if connection.vendor == "postgresql":
        return f"now() - ({seconds}) * interval '1 second'"
    return f"datetime('now', (-({seconds})) || ' seconds')"


def digest(number: str) -> str:
    if connection.vendor == "postgresql":
        return f"md5(({number})::text) || md5(({number} + 1)::text)"
    return "lower(hex(randomblob(32)))"


def _true(condition: str) -> str:
    return f"({condition})" if connection.vendor == "postgresql" else f"CASE WHEN {condition} THEN 1 ELSE 0 END"

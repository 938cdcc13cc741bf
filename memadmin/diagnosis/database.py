"""Whether the database answers, is migrated, and has room for one more connection."""

from collections.abc import Iterator

from django.db import connection

from memadmin import health, postgres
from memadmin.checks import sqlite_is_safe
from memadmin.diagnosis.finding import Finding, counted, error, warning

CONNECT_SECONDS = 3
NEARLY_ALL = 0.9  # of PostgreSQL's connections

FULL = (
    "PostgreSQL answers, but has no connection left.",
    "Raise max_connections, run fewer processes (each takes up to 8), or put a pooler in front of it.",
)
# How PostgreSQL words a refusal, what it means, what to do.
REFUSALS = [
    ("too many clients", *FULL),
    ("too many connections", *FULL),
    ("remaining connection slots", *FULL),
    ("password authentication failed", "PostgreSQL refuses the user name or the password.", "Look at DATABASE_URL."),
    ("no password supplied", "PostgreSQL wants a password, and there is none.", "Put it into DATABASE_URL."),
    ("does not exist", "PostgreSQL does not have this database or this user.", "Create it, or look at DATABASE_URL."),
    ("starting up", "PostgreSQL is starting.", "Wait, and ask once more."),
]


def state() -> Iterator[Finding]:
    report = health.database_report()
    if report["status"] == "unreachable":
        yield _unreachable(str(report["error"]))
    elif report["status"] == "not migrated":
        waiting = counted(report["migrations_waiting"], "migration is", "migrations are")
        yield error("database", f"{waiting} not applied: the database is older than the program.", "memadmin prepare")
    for message in sqlite_is_safe():
        yield warning("database", str(message.msg), message.hint or "")


def _unreachable(name: str) -> Finding:
    if connection.vendor != "postgresql":
        fix = "Look at DATABASE_URL, and whether this account may read and write the file and its folder."
        return error("database", f"The database cannot be opened ({name}).", fix)
    said = _what_postgres_says()
    for words, what, fix in REFUSALS:
        if words in said:
            return error("database", what, fix)
    if not said:  # it takes a connection from us, and gave none to Django's pool
        return error("database", f"PostgreSQL answers again; just now it did not ({name}).", "Ask once more.")
    fix = "Start it; look at DATABASE_URL and at what lies between."
    return error("database", f"The database does not answer ({name}).", fix)


def _what_postgres_says() -> str:
    """Its refusal of one connection outside of the pool; "" when it takes it."""
    import psycopg  # only where PostgreSQL is used
    from psycopg.conninfo import make_conninfo

    try:
        told = make_conninfo(**postgres.parameters(connection))
        psycopg.connect(told, connect_timeout=CONNECT_SECONDS).close()
    except psycopg.Error as problem:
        return str(problem) or type(problem).__name__
    return ""


def connections() -> Iterator[Finding]:
    """PostgreSQL refuses the next process when all its connections are taken: seen before it happens."""
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT (SELECT sum(numbackends) FROM pg_stat_database), current_setting('max_connections')::int"
            " - current_setting('superuser_reserved_connections')::int"
        )
        taken, most = cursor.fetchone()
    if taken >= most * NEARLY_ALL:
        yield warning("database", f"{taken} of PostgreSQL's {most} connections are taken.", FULL[1])

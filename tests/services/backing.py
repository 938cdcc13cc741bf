"""A PostgreSQL and a Redis database of its own for each installation that a test starts as processes."""

import functools
import os
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg

# Redis databases before it are for the processes of a parallel run (memadmin/settings_test.py).
_NUMBERS = "CREATE SEQUENCE IF NOT EXISTS installations START 100"


def in_use() -> bool:
    """Whether this run has PostgreSQL and Redis, and not what memadmin brings itself."""
    return bool(os.environ.get("MEMADMIN_TEST_DATABASE_URL"))


@functools.cache
def of(data_dir: Path) -> dict[str, str]:
    """What the product on this data folder is told; nothing where it brings its own database and broker.

    They are empty at first, and the same ones for as long as this run of the tests lasts.
    """
    if not in_use():
        return {}
    with psycopg.connect(os.environ["MEMADMIN_TEST_DATABASE_URL"], autocommit=True) as connection:
        connection.execute(_NUMBERS)
        (number,) = connection.execute("SELECT nextval('installations')").fetchone() or (0,)
    database, broker = new_database(f"installation_{number}"), os.environ["MEMADMIN_TEST_REDIS_URL"]
    return {"DATABASE_URL": database, "REDIS_URL": f"{broker}?db={number}"}


def new_database(name: str) -> str:
    """The URL of a new, empty database. `name`: ours, never from outside."""
    url = os.environ["MEMADMIN_TEST_DATABASE_URL"]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))

"""A PostgreSQL and a Redis database of its own for each installation that a test starts as processes."""

import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import psycopg

# Redis databases before it are for the processes of a parallel run (memadmin/settings_test.py).
_NUMBERS = "CREATE SEQUENCE IF NOT EXISTS installations START 100"


def in_use() -> bool:
    """Whether this run has PostgreSQL and Redis, and not what memadmin brings itself."""
    return bool(os.environ.get("MEMADMIN_TEST_DATABASE_URL"))


_told: dict[Path, dict[str, str]] = {}


def of(data_dir: Path, *, migrated: bool = False) -> dict[str, str]:
    """What the product on this data folder is told; nothing where it brings its own database and broker.

    They are empty at first, but for the tables if it is `migrated`, and the same ones for as long as this run of the
    tests lasts.
    """
    if not in_use():
        return {}
    if data_dir not in _told:
        _told[data_dir] = _new(migrated)
    return _told[data_dir]


def _new(migrated: bool) -> dict[str, str]:
    with psycopg.connect(os.environ["MEMADMIN_TEST_DATABASE_URL"], autocommit=True) as connection:
        connection.execute(_NUMBERS)
        (number,) = connection.execute("SELECT nextval('installations')").fetchone() or (0,)
    database = new_database(f"installation_{number}", like=_migrated() if migrated else "")
    broker = os.environ["MEMADMIN_TEST_REDIS_URL"]
    return {"DATABASE_URL": database, "REDIS_URL": f"{broker}?db={number}"}


@functools.cache
def _migrated() -> str:
    """The name of a database in which all migrations are applied, and which nobody uses."""
    name = f"migrated_{os.getpid()}"
    url = new_database(name)
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "MEMADMIN_TEST_DATABASE_URL": url, "MEMADMIN_DATA_DIR": folder}
        command = [sys.executable, "-m", "django", "migrate", "--verbosity", "0"]
        subprocess.run(command, env={**environment, "DJANGO_SETTINGS_MODULE": "memadmin.settings_test"}, check=True)
    return name


def new_database(name: str, *, like: str = "") -> str:
    """The URL of a new database, empty or a copy. Both names are ours, never from outside."""
    url = os.environ["MEMADMIN_TEST_DATABASE_URL"]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}{f' TEMPLATE {like}' if like else ''}".encode())
    return urlunsplit(urlsplit(url)._replace(path=f"/{name}"))

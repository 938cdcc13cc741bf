"""A copy of the database while it is in use: one moment of it, private, checked, and complete or not there at all."""

import os
import secrets
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from django.db import connection

from memadmin import postgres

BUSY_SECONDS = 20.0


class CannotBackUp(Exception):
    """Nothing was written; str() says why and what to do."""


def back_up(target: Path, *, force: bool = False) -> int:
    """Writes the backup and returns its size in bytes. Raises CannotBackUp."""
    _check_target(target, force=force)
    fresh = target.with_name(f".{target.name}.{os.getpid()}.{secrets.token_hex(4)}")
    write: Callable[[Path], None] = _copy_sqlite if connection.vendor == "sqlite" else _dump_postgres
    try:
        os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
        write(fresh)
        _store(fresh)
        size = fresh.stat().st_size
        _publish(fresh, target, force=force)
        return size
    except OSError as error:
        raise CannotBackUp(f"{target} cannot be written: {error.strerror or error}.") from error
    finally:
        for left in (fresh, fresh.with_name(f"{fresh.name}-journal")):
            left.unlink(missing_ok=True)


def _check_target(target: Path, *, force: bool) -> None:
    if not target.parent.is_dir():
        raise CannotBackUp(f"There is no folder {target.parent}: make it first.")
    if target.is_dir():
        raise CannotBackUp(f"{target} is a folder: name a file in it.")
    if _is_the_database(target):
        raise CannotBackUp(f"{target} is the database itself. Name another file, best on another disk.")
    if not force and os.path.lexists(target):
        raise _taken(target)


def _taken(target: Path) -> CannotBackUp:
    return CannotBackUp(f"{target} is there already. Name another file, or overwrite it with --force.")


def _is_the_database(target: Path) -> bool:
    if connection.vendor != "sqlite":
        return False
    database = Path(connection.settings_dict["NAME"])
    parts = [database, *(database.with_name(f"{database.name}-{part}") for part in ("wal", "shm", "journal"))]
    return target.absolute() in parts or any(
        part.exists() and target.exists() and target.samefile(part) for part in parts
    )


def _store(path: Path) -> None:
    """A backup that the next power cut takes away is none."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _publish(fresh: Path, target: Path, *, force: bool) -> None:
    if force:
        fresh.replace(target)
    else:
        try:
            os.link(fresh, target)  # unlike a rename it never replaces what came meanwhile
        except FileExistsError as error:
            raise CannotBackUp(
                f"{target} is there already. Name another file, or overwrite it with --force."
            ) from error
        except OSError:  # a file system without links
            fresh.rename(target)
    _store(target.parent)


# ── SQLite ───────────────────────────────────────────────────────────────────────────────────────────────────


def _copy_sqlite(fresh: Path) -> None:
    """VACUUM INTO: one read transaction, which stops no writer. Deleted rows are not in the copy, not even as rests."""
    database = Path(connection.settings_dict["NAME"])
    try:
        with closing(sqlite3.connect(f"{database.as_uri()}?mode=rw", uri=True, timeout=BUSY_SECONDS)) as source:
            pages, page = (source.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
            free = shutil.disk_usage(fresh.parent).free
            if pages * page > free:
                raise CannotBackUp(
                    f"The database has up to {pages * page:,} bytes, and only {free:,} are free in {fresh.parent}."
                )
            source.execute("VACUUM INTO ?", [str(fresh)])
        with closing(sqlite3.connect(f"{fresh.as_uri()}?mode=ro", uri=True)) as copy:
            found = copy.execute("PRAGMA integrity_check(1)").fetchone()[0]
    except sqlite3.Error as error:
        raise CannotBackUp(f"SQLite does not copy {database}: {error}.") from error
    if found != "ok":
        raise CannotBackUp(
            f"The copy is not sound ({found}), so the database is damaged. Keep the backups you have, stop memadmin, "
            "and look at docs/operations.md, When something is wrong."
        )


# ── PostgreSQL ───────────────────────────────────────────────────────────────────────────────────────────────


def _dump_postgres(fresh: Path) -> None:
    dump, environment = shutil.which("pg_dump"), _pg_environment()
    if dump is None:
        where = " ".join(
            f"{name}={environment[name]}" for name in ("PGHOST", "PGPORT", "PGUSER") if name in environment
        )
        raise CannotBackUp(
            "pg_dump is not installed here. Install PostgreSQL's client programs, or run where they are: "
            f"{where} pg_dump --format=custom --file=FILE {connection.settings_dict['NAME']}"
        )
    _run([dump, "--format=custom", "--no-password", f"--file={fresh}"], environment)
    if restore := shutil.which("pg_restore"):
        _run([restore, "--list", str(fresh)], environment)


def _run(command: list[str], environment: dict[str, str]) -> None:
    done = subprocess.run(  # noqa: S603  two programs of PostgreSQL, found on our own path
        command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode:
        told = " ".join(done.stderr.split())[-500:] or f"it ended with code {done.returncode}"
        if password := environment.get("PGPASSWORD"):
            told = told.replace(password, "…")
        raise CannotBackUp(f"{Path(command[0]).name} failed: {told}")


def _pg_environment() -> dict[str, str]:
    """A password on a command line could be read by everybody; ours are none of its business."""
    ours = ("MEMADMIN_", "HINDSIGHT_", "DATABASE_URL", "REDIS_URL")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return kept | postgres.environment(connection)

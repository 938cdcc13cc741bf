"""An SQLite file with all migrations applied: kept between runs, since applying them takes as long as a hundred tests.

It is of exactly these migrations and versions: with any other, and on PostgreSQL, they are applied.
"""

import hashlib
import os
import shutil
import sqlite3
from pathlib import Path

import django
from django.apps import apps
from django.db import connection

FOLDER = Path(__file__).resolve().parents[1] / ".cache" / "migrated"


def copied() -> bool:
    """Whether the test database now stands where it belongs, ready to be used."""
    return connection.vendor == "sqlite" and copy_to(Path(connection.settings_dict["TEST"]["NAME"]))


def copy_to(place: Path) -> bool:
    """False where none is kept."""
    if not (kept := _kept()).exists():
        return False
    for old in ("-wal", "-shm"):  # of a run that was killed
        place.with_name(place.name + old).unlink(missing_ok=True)
    shutil.copyfile(kept, place)
    return True


def keep() -> None:
    """For the next run, instead of what was kept before."""
    if connection.vendor != "sqlite":
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    half = FOLDER / f".{os.getpid()}"
    with connection.cursor() as cursor:
        cursor.execute("VACUUM INTO %s", [str(half)])
    half.replace(kept := _kept())
    for other in FOLDER.glob("*.sqlite3"):
        if other != kept:
            other.unlink(missing_ok=True)


def _kept() -> Path:
    told = hashlib.sha256(f"{django.__version__} {sqlite3.sqlite_version}".encode())
    for app in apps.get_app_configs():
        for file in sorted(Path(app.path, "migrations").glob("*.py")):
            told.update(f"{app.label} {file.name}".encode())
            told.update(file.read_bytes())
    return FOLDER / f"{told.hexdigest()[:16]}.sqlite3"

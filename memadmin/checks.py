"""System checks of the installation (`manage.py check`, `memadmin check`)."""

import os
import sqlite3
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.core import checks
from django.core.checks import CheckMessage, Error, Tags, register

from memadmin.runtime import LONGEST_SOCKET_PATH

KEY_FILES = ("secret_key", "encryption_keys")


def wal_is_safe(version: tuple[int, int, int]) -> bool:
    """Whether this SQLite is free of the rare WAL-reset race (fixed in 3.51.3, and in 3.50.7 and 3.44.6)."""
    if version >= (3, 51, 3):
        return True
    fixed = {(3, 50): 7, (3, 44): 6}
    return version[2] >= fixed.get(version[:2], 1_000)


def uses_sqlite() -> bool:
    return bool(settings.DATABASES["default"]["ENGINE"].endswith("sqlite3"))


@register(Tags.security, deploy=True)
def sqlite_is_safe(**kwargs: Any) -> Sequence[CheckMessage]:
    if not uses_sqlite() or wal_is_safe(sqlite3.sqlite_version_info):
        return []
    return [
        checks.Warning(
            f"SQLite {sqlite3.sqlite_version} has a rare race that can damage a database when its write-ahead log "
            "is reset under load.",
            hint="Keep backups. Use a Python with SQLite 3.51.3 or newer, or PostgreSQL (DATABASE_URL), for a team.",
            id="memadmin.W001",
        )
    ]


@register(Tags.security)
def key_files_are_private(**kwargs: Any) -> Sequence[CheckMessage]:
    found = []
    for path in (Path(settings.DATA_DIR) / name for name in KEY_FILES):
        try:
            mode = stat.S_IMODE(path.stat().st_mode)
        except OSError:
            continue
        if mode & 0o077:
            hint = f"chmod 600 {path}; whoever could read it may have the keys: rotate them."
            found.append(
                checks.Warning(f"{path} can be read by others (mode {mode:o}).", hint=hint, id="memadmin.W002")
            )
    return found


@register()
def socket_fits(**kwargs: Any) -> Sequence[CheckMessage]:
    url = urlsplit(settings.REDIS_URL)
    path = unquote(url.path)
    if url.scheme != "unix" or len(os.fsencode(path)) <= LONGEST_SOCKET_PATH:
        return []
    return [
        Error(
            f"The broker's socket path has {len(os.fsencode(path))} bytes: more than the system takes.",
            hint="Choose a shorter path in REDIS_URL, or unset it: memadmin then finds a short one.",
            id="memadmin.E001",
        )
    ]

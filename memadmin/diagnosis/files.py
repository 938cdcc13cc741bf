"""Settings, the data folder, and who can read it."""

import os
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.core import checks

from memadmin.diagnosis.finding import Finding, error, warning

MEGABYTE = 1024 * 1024
# Below the first nobody can work for long; below the second SQLite may fail in the middle of a decision.
LITTLE_SPACE, NO_SPACE = 1024 * MEGABYTE, 100 * MEGABYTE


def settings_are_sound() -> Iterator[Finding]:
    for message in checks.run_checks(include_deployment_checks=False):
        level = "error" if message.level >= checks.ERROR else "warning"
        yield Finding("settings", level, str(message.msg), message.hint or "")


def data_folder() -> Iterator[Finding]:
    folder = Path(settings.DATA_DIR)
    if not folder.is_dir():
        yield error("files", f"There is no data folder {folder}.", "memadmin prepare makes it.")
        return
    if not os.access(folder, os.W_OK | os.X_OK):
        yield error("files", f"{folder} cannot be written by this account (uid {os.getuid()}).", "Give it the folder.")
    free = shutil.disk_usage(folder).free
    if free < LITTLE_SPACE:
        level = "error" if free < NO_SPACE else "warning"
        what = f"Only {free // MEGABYTE:,} MB are free where {folder} is; without room no decision can be stored."
        yield Finding("files", level, what, "Make room there, or move the folder and set MEMADMIN_DATA_DIR.")
    yield from _open_to_others(folder)


def _open_to_others(folder: Path) -> Iterator[Finding]:
    """The memories themselves; the keys have a check of their own (memadmin.checks)."""
    if not stat.S_IMODE(folder.stat().st_mode) & 0o011:
        return
    for path in sorted([*folder.glob("*.sqlite3*"), folder / "uploads", folder / "valkey"]):
        if path.exists() and stat.S_IMODE(path.stat().st_mode) & 0o044:
            what = f"Other accounts of this machine can read {path}: it holds memories."
            yield warning("files", what, f"chmod 700 {folder}")
            return

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from memadmin import checks
from tests.stack.support import ROOT


@pytest.mark.parametrize(
    ("version", "safe"),
    [
        ((3, 40, 1), False),
        ((3, 44, 5), False),
        ((3, 44, 6), True),
        ((3, 45, 0), False),
        ((3, 50, 6), False),
        ((3, 50, 7), True),
        ((3, 51, 2), False),
        ((3, 51, 3), True),
        ((3, 52, 0), True),
        ((4, 0, 0), True),
    ],
)
def test_an_sqlite_with_the_write_ahead_log_race_is_known(version: tuple[int, int, int], safe: bool) -> None:
    assert checks.wal_is_safe(version) is safe


def test_it_is_warned_about_with_what_to_do(monkeypatch: pytest.MonkeyPatch, settings) -> None:
    settings.DATABASES["default"]["ENGINE"] = "django.db.backends.sqlite3"
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 40, 1))

    (warning,) = checks.sqlite_is_safe()

    assert warning.id == "memadmin.W001"
    assert "PostgreSQL" in warning.hint


def test_a_key_that_others_can_read_is_told(settings, tmp_path: Path) -> None:
    settings.DATA_DIR = tmp_path
    (tmp_path / "secret_key").touch(mode=0o600)
    (tmp_path / "encryption_keys").touch()
    (tmp_path / "encryption_keys").chmod(0o644)

    (warning,) = checks.key_files_are_private()

    assert "encryption_keys can be read by others (mode 644)" in warning.msg


@pytest.mark.parametrize(("length", "number"), [(80, 0), (120, 1)])
def test_a_socket_path_that_is_too_long_is_told(settings, length: int, number: int) -> None:
    settings.REDIS_URL = "unix:///" + "x" * (length - 1)

    assert len(checks.socket_fits()) == number


def test_the_production_settings_pass_the_deployment_checks() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "deploy_check.py")], capture_output=True, text=True, cwd="/"
    )

    assert done.returncode == 0, done.stdout + done.stderr

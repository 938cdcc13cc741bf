"""`memadmin check` about the machine: folder, database, broker, beat, workers."""

from pathlib import Path

import pytest
import redis
from django.conf import LazySettings
from django.db import connection

from memadmin.diagnosis import database, files, processes
from tests.memadmin.checked import said

GIGABYTE = 1024**3


@pytest.fixture
def folder(settings: LazySettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings.DATA_DIR = tmp_path / "var"
    settings.DATA_DIR.mkdir(mode=0o700)
    free(monkeypatch, 10 * GIGABYTE)
    return settings.DATA_DIR


def free(monkeypatch: pytest.MonkeyPatch, size: float) -> None:
    usage = type("Usage", (), {"free": int(size)})
    monkeypatch.setattr(files.shutil, "disk_usage", lambda path: usage)


# ── files ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("size", "level"), [(0.5 * GIGABYTE, "warning"), (0.05 * GIGABYTE, "error")])
def test_little_space_is_told_before_there_is_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch, size: float, level: str
) -> None:
    assert said(files.data_folder) == []
    free(monkeypatch, size)
    assert said(files.data_folder) == [
        f"{level}: Only {int(size) // 1024**2} MB are free where {folder} is; without room no decision can be stored."
    ]


def test_a_missing_folder_is_told(folder: Path) -> None:
    folder.rmdir()
    assert said(files.data_folder) == [f"error: There is no data folder {folder}."]


def test_a_folder_that_is_not_ours_is_told(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files.os, "access", lambda path, mode: False)
    assert "cannot be written by this account" in said(files.data_folder)[0]


def test_memories_that_others_can_read_are_told(folder: Path) -> None:
    file = folder / "memadmin.sqlite3"
    file.touch()
    file.chmod(0o644)
    assert said(files.data_folder) == []  # nobody else enters the folder
    folder.chmod(0o755)
    assert said(files.data_folder) == [f"warning: Other accounts of this machine can read {file}: it holds memories."]
    file.chmod(0o600)
    assert said(files.data_folder) == []


def test_what_the_system_checks_find_is_passed_on(folder: Path) -> None:
    (folder / "encryption_keys").touch()
    (folder / "encryption_keys").chmod(0o644)
    found = said(files.settings_are_sound)
    assert [line for line in found if "encryption_keys can be read by others (mode 644)" in line]


# ── the database ─────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def report(monkeypatch: pytest.MonkeyPatch) -> dict[str, object]:
    told: dict[str, object] = {"status": "ok"}
    monkeypatch.setattr(database.health, "database_report", lambda: told)
    monkeypatch.setattr(database, "sqlite_is_safe", list)
    return told


def test_migrations_that_wait_are_told(report: dict[str, object]) -> None:
    assert said(database.state) == []
    report.update(status="not migrated", migrations_waiting=2)
    assert said(database.state) == ["error: 2 migrations are not applied: the database is older than the program."]


def test_the_race_of_an_old_sqlite_is_told(report: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    old = type("Message", (), {"msg": "SQLite 3.40.1 has a rare race", "hint": "Keep backups."})
    monkeypatch.setattr(database, "sqlite_is_safe", lambda: [old])
    assert said(database.state) == ["warning: SQLite 3.40.1 has a rare race"]


def test_a_file_that_does_not_open_is_told(report: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "connection", type("Connection", (), {"vendor": "sqlite"}))
    report.update(status="unreachable", error="OperationalError")
    assert said(database.state) == ["error: The database cannot be opened (OperationalError)."]


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        ("FATAL: sorry, too many clients already", "PostgreSQL answers, but has no connection left."),
        ("FATAL: remaining connection slots are reserved", "PostgreSQL answers, but has no connection left."),
        ("FATAL: password authentication failed", "PostgreSQL refuses the user name or the password."),
        ('FATAL: database "x" does not exist', "PostgreSQL does not have this database or this user."),
        ("FATAL: the database system is starting up", "PostgreSQL is starting."),
        ("connection refused", "The database does not answer (OperationalError)."),
        ("", "PostgreSQL answers again; just now it did not (OperationalError)."),
    ],
)
def test_what_postgresql_refuses_is_told_apart(
    report: dict[str, object], monkeypatch: pytest.MonkeyPatch, answer: str, what: str
) -> None:
    monkeypatch.setattr(database, "connection", type("Connection", (), {"vendor": "postgresql"}))
    monkeypatch.setattr(database, "_what_postgres_says", lambda: answer)
    report.update(status="unreachable", error="OperationalError")
    assert said(database.state) == [f"error: {what}"]


def test_postgresql_is_asked_without_the_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    class Closed:
        def get_connection_params(self) -> dict[str, object]:
            return {"host": "127.0.0.1", "port": 1, "user": "ann", "password": "hush-hush", "dbname": "memadmin"}

    monkeypatch.setattr(database, "connection", Closed())
    answer = database._what_postgres_says()
    assert "refused" in answer
    assert "hush" not in answer


def test_connections_that_run_out_are_told(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert said(database.connections) == []
    monkeypatch.setattr(database, "NEARLY_ALL", 0.0)
    found = said(database.connections)
    assert len(found) == (connection.vendor == "postgresql")
    assert all("connections are taken." in line for line in found)


# ── the broker, beat and the workers ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("memory", "number"),
    [
        ({"maxmemory": 1000, "maxmemory_policy": "allkeys-lru"}, 1),
        ({"maxmemory": 1000, "maxmemory_policy": "noeviction"}, 0),
        ({"maxmemory": 0, "maxmemory_policy": "allkeys-lru"}, 0),  # without a limit nothing is dropped
        (redis.ResponseError("unknown command"), 0),
    ],
)
def test_a_broker_that_drops_messages_is_told(monkeypatch: pytest.MonkeyPatch, memory: object, number: int) -> None:
    class Client:
        def info(self, section: str) -> object:
            if isinstance(memory, Exception):
                raise memory
            return memory

        def close(self) -> None:
            pass

    monkeypatch.setattr(processes.health, "broker_report", lambda: {"status": "ok"})
    monkeypatch.setattr(processes.redis.Redis, "from_url", lambda *arguments, **options: Client())
    assert len(said(processes.broker)) == number


def test_a_dead_broker_is_told_once(settings: LazySettings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    (found,) = said(processes.broker)
    assert found.startswith("error: The broker does not answer (ConnectionError)")
    assert said(processes.workers) == []  # nobody could tell


OK, LATE, SILENT = (
    {"status": "ok", "seconds_ago": 3.0},
    {"status": "late", "seconds_ago": 70.0},
    {"status": "silent", "seconds_ago": None},
)


@pytest.mark.parametrize(
    ("door", "load", "listening", "expected"),
    [
        (OK, OK, set(), []),
        (LATE, LATE, {"door", "load"}, ["error: Beat does not run: workers live"]),
        (SILENT, SILENT, set(), ["error: No worker listens on queue door", "error: No worker listens on queue load"]),
        (SILENT, LATE, {"load"}, ["error: Beat does not run", "error: No worker listens on queue door (never heard"]),
        (OK, LATE, set(), ["error: No worker listens on queue load (last sign 70 s ago)"]),
        (OK, LATE, {"load"}, ["warning: The worker on queue load lives, but does not get round to new work"]),
    ],
)
def test_beat_and_workers_are_told_apart(
    monkeypatch: pytest.MonkeyPatch,
    door: dict[str, object],
    load: dict[str, object],
    listening: set[str],
    expected: list[str],
) -> None:
    monkeypatch.setattr(processes.health, "broker_report", lambda: {"status": "ok"})
    monkeypatch.setattr(processes.health, "worker_report", lambda: {"door": door, "load": load})
    monkeypatch.setattr(processes, "queues_listened_to", lambda: listening)
    found = said(processes.workers)
    assert [line[: len(start)] for line, start in zip(found, expected, strict=True)] == expected

"""Where measures happen: throw-away folders and databases, and processes with Django that are called by name."""

import json
import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import psycopg

ROOT = Path(__file__).resolve().parents[2]
EMBEDDED, POSTGRESQL = "embedded", "postgresql"
NAMES = ("HINDSIGHT_", "MEMADMIN_", "DJANGO_", "DATABASE_URL", "REDIS_URL")


def clean_environment(data_dir: Path, **more: str) -> dict[str, str]:
    """Nothing of a real installation."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(NAMES)}
    return {**kept, "MEMADMIN_DATA_DIR": str(data_dir), "PYTHONPATH": str(ROOT), **more}


class Inside:
    """A process with Django, migrated and empty, whose functions are called by name: call("pages:get", path="/")."""

    def __init__(self, data_dir: Path, database_url: str = "") -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.bench.inside"],
            cwd=ROOT,
            env=clean_environment(data_dir, DJANGO_SETTINGS_MODULE="tests.bench.settings", DATABASE_URL=database_url),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def call(self, name: str, **arguments: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([name, arguments]) + "\n")
        self._process.stdin.flush()
        if not (line := self._process.stdout.readline()):
            raise RuntimeError(f"{name} failed; the reason is above")
        return json.loads(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        with suppress(OSError):
            self._process.communicate(timeout=60)
        self._process.kill()


class Profile:
    """A kind of installation, which gives away as many empty databases as a measure wants."""

    def __init__(self, name: str, folder: Path, server: str = "") -> None:
        self.name, self._folder, self._server = name, folder, server

    @contextmanager
    def inside(self) -> Iterator[Inside]:
        with tempfile.TemporaryDirectory(dir=self._folder) as data_dir:
            if not self._server:
                with Inside(Path(data_dir)) as process:
                    yield process
                return
            name = f"bench_{secrets.token_hex(4)}"
            self._tell(f"CREATE DATABASE {name}")
            try:
                with Inside(Path(data_dir), self._server.replace("/postgres?", f"/{name}?")) as process:
                    yield process
            finally:
                self._tell(f"DROP DATABASE {name} WITH (FORCE)")

    def _tell(self, sql: str) -> None:
        with psycopg.connect(self._server, autocommit=True) as connection:
            connection.execute(sql)  # type: ignore[arg-type]  # our own text

"""Running the whole product as processes, and looking at what is left of it."""

import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from memadmin.runtime import die_with_parent
from memadmin.up.choice import CHOICE_FILE
from tests import migrated
from tests.services import backing

ROOT = Path(__file__).resolve().parents[2]
OURS = ("HINDSIGHT_", "MEMADMIN_", "DJANGO_")


def clean_environment(data_dir: Path, **more: str) -> dict[str, str]:
    """Nothing of a real installation, and the database and broker of this run's profile."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(OURS) and k not in {"DATABASE_URL", "REDIS_URL"}}
    # The queue file of whoever runs the tests is not watched.
    ours = {"MEMADMIN_DATA_DIR": str(data_dir), "PYTHONPATH": str(ROOT), "MEMADMIN_QUEUE_FILE": "off"}
    return {**kept, **ours, **backing.of(data_dir), **more}


def wait_for(what: Callable[[], object], *, seconds: float = 180.0) -> None:
    """Polls until it is true; fails the test when it never is."""
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, f"never true: {what}"
        time.sleep(0.05)


class Up:
    """One `memadmin up`, with its output at hand."""

    def __init__(self, data_dir: Path, *arguments: str, **env: str) -> None:
        self.data_dir = data_dir
        self.lines: list[str] = []
        self._queue: queue.Queue[str | None] = queue.Queue()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "memadmin", "up", *arguments],
            cwd=data_dir.parent,
            env=clean_environment(data_dir, **env),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            preexec_fn=partial(die_with_parent, os.getpid()),  # a killed test run leaves nothing behind
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))

    @property
    def output(self) -> str:
        return "\n".join(self.lines)

    def wait_for_line(self, pattern: str, *, seconds: float = 180.0) -> str:
        """The first group of the first line that matches."""
        found: list[str] = []

        def seen() -> bool:
            found.extend(m[1] if m.re.groups else m[0] for line in list(self.lines) if (m := re.search(pattern, line)))
            assert found or self.process.poll() is None or self._reader.is_alive(), f"it ended:\n{self.output}"
            return bool(found)

        wait_for(seen, seconds=seconds)
        return found[0]

    def wait_until_ready(self) -> str:
        """The address."""
        return self.wait_for_line(r"memadmin is ready: (\S+)/$")

    def stop(self, sign: signal.Signals = signal.SIGINT) -> int:
        if self.process.poll() is None:
            self.process.send_signal(sign)
        code = self.process.wait(90)
        self._reader.join(10)
        return code


def procfile() -> dict[str, str]:
    """{name: command} of the Procfile."""
    lines = (ROOT / "Procfile").read_text(encoding="utf-8").splitlines()
    return dict(line.split(": ", 1) for line in lines)


@contextmanager
def running(data_dir: Path, *arguments: str, new: bool = False, **env: str) -> Iterator[Up]:
    """`new`: the first start applies all migrations. Else the database is there, which saves half of the time."""
    if not new and not (data_dir / CHOICE_FILE).exists():
        _lay_database(data_dir / "demo" if "demo" in arguments else data_dir, data_dir)
    up = Up(data_dir, *arguments, **env)
    try:
        yield up
    finally:
        up.stop()


def _lay_database(folder: Path, data_dir: Path) -> None:
    if backing.in_use():
        backing.of(data_dir, migrated=True)
        return
    data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    migrated.copy_to(folder / "memadmin.sqlite3")


def processes(data_dir: Path) -> dict[int, str]:
    """{pid: command line} of the living processes that were started for this data folder."""
    mark = f"MEMADMIN_DATA_DIR={data_dir}".encode()
    inside = f"{data_dir}/"
    found = {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            environ = (entry / "environ").read_bytes().split(b"\0")
            state = (entry / "stat").read_text().rpartition(")")[2].split()[0]
            command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            # Valkey writes its title over its environment, but works in its own folder.
            folder = str((entry / "cwd").readlink())
        except OSError:
            continue
        ours = folder.startswith(inside) or any(v == mark or v.startswith(mark + b"/") for v in environ)
        if state != "Z" and ours:
            found[int(entry.name)] = command
    return found


def pid_of(data_dir: Path, part: str) -> int:
    """The oldest process whose command line has this part."""
    return min(pid for pid, command in processes(data_dir).items() if part in command)

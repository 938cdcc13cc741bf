"""Processes beside those of `memadmin up`: started again whenever they die, as a service manager does it."""

import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from memadmin.runtime import die_with_parent
from memadmin.up import valkey

STARTED_AGAIN_AFTER = 0.5  # seconds


class Kept:
    """Runs the command for as long as the block lasts."""

    def __init__(self, command: Sequence[str], *, folder: Path, env: Mapping[str, str] | None = None) -> None:
        """`folder`: where it runs and writes its log."""
        self.command, self.folder, self.env = command, folder, env
        self._over = threading.Event()
        self._started = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._keeper = threading.Thread(target=self._keep, daemon=True, name="keeper")

    def kill(self) -> bool:
        """False when it is dead already."""
        process = self._process
        if process is None or process.poll() is not None:
            return False
        process.kill()
        return True

    def __enter__(self) -> Self:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._keeper.start()
        self._started.wait(30)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        while self._keeper.is_alive():
            self.kill()
            self._keeper.join(0.2)

    def _keep(self) -> None:
        while not self._over.is_set():
            with (self.folder / "log").open("ab") as log:
                self._process = subprocess.Popen(
                    self.command,
                    cwd=self.folder,
                    env=self.env,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                    preexec_fn=partial(die_with_parent, os.getpid()),
                )
            self._started.set()
            self._process.wait()
            self._over.wait(STARTED_AGAIN_AFTER)


def worker(queue: str, *, folder: Path, env: Mapping[str, str]) -> Kept:
    """A second worker for this queue, as a team has it: what the first one holds when it dies is taken up by this."""
    options = ["-Q", queue, "-n", f"{queue}-beside@%h", "--pool", "threads", "-c", "4"]
    command = [sys.executable, "-m", "celery", "--quiet", "-A", "memadmin", "worker", *options]
    quiet = ["--without-gossip", "--without-mingle", "--loglevel", "WARNING"]
    return Kept([*command, *quiet], folder=folder, env=env)


class Broker(Kept):
    """For the profile where memadmin does not bring one: Redis, else Valkey, kept on disk as operators are told to."""

    def __init__(self, folder: Path) -> None:
        self.socket = folder / "broker.sock"
        program = shutil.which("redis-server") or str(valkey.binary())
        place = {"port": "0", "unixsocket": str(self.socket), "dir": str(folder)}
        options = {**place, "save": "", "appendonly": "yes"}
        super().__init__(
            [program, *(word for name, value in options.items() for word in (f"--{name}", value))], folder=folder
        )

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

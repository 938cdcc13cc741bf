"""A broker of our own, for the profile where memadmin does not bring one: killed like any other, and started again."""

import os
import shutil
import subprocess
import threading
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Self

from memadmin.runtime import die_with_parent
from memadmin.up import valkey

STARTED_AGAIN_AFTER = 0.5  # seconds


class Broker:
    """Redis, or else Valkey, on a unix socket, with an append-only file as operators are told to have it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.socket = folder / "broker.sock"
        self._over = threading.Event()
        self._process: subprocess.Popen[bytes] | None = None
        self._keeper = threading.Thread(target=self._keep, daemon=True, name="broker")

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"

    def kill(self) -> bool:
        process = self._process
        if process is None or process.poll() is not None:
            return False
        process.kill()
        return True

    def __enter__(self) -> Self:
        self.folder.mkdir(mode=0o700)
        self._keeper.start()
        while not valkey.answers(self.socket):
            if not self._keeper.is_alive():
                raise RuntimeError("the broker does not start")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self.kill()
        self._keeper.join(10)

    def _keep(self) -> None:
        program = shutil.which("redis-server") or str(valkey.binary())
        place = {"port": "0", "unixsocket": str(self.socket), "dir": str(self.folder)}
        options = {**place, "save": "", "appendonly": "yes"}
        command = [program, *(word for name, value in options.items() for word in (f"--{name}", value))]
        while not self._over.is_set():
            with (self.folder / "log").open("ab") as log:
                self._process = subprocess.Popen(
                    command, cwd=self.folder, stdout=log, stderr=log, preexec_fn=partial(die_with_parent, os.getpid())
                )
            self._process.wait()
            self._over.wait(STARTED_AGAIN_AFTER)

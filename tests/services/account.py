"""Whom a server of the tests runs as. PostgreSQL refuses to run as root, so root borrows an account for it."""

import os
import pwd
import subprocess
from pathlib import Path
from typing import Any

_BORROWED = ("postgres", "nobody")


class NoAccount(Exception):
    """Root found no account to borrow; the text says so."""


class Account:
    """Ours, or the one that root borrows. `as_user` are arguments of subprocess.run and Popen."""

    def __init__(self) -> None:
        self._borrowed = _borrow() if os.geteuid() == 0 else None
        self.name = self._borrowed.pw_name if self._borrowed else pwd.getpwuid(os.geteuid()).pw_name

    @property
    def as_user(self) -> dict[str, Any]:
        if self._borrowed is None:
            return {}
        return {"user": self._borrowed.pw_uid, "group": self._borrowed.pw_gid, "extra_groups": []}

    def run(self, *command: str, timeout: float = 120.0) -> subprocess.CompletedProcess[str]:
        """Errors are part of the output. The folder is one that everybody may be in."""
        return subprocess.run(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd="/",
            check=False,
            timeout=timeout,
            **self.as_user,
        )

    def folder(self, path: Path) -> bool:
        """Makes the folder and hands it over; False where the account cannot reach it."""
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self._borrowed:
            os.chown(path, self._borrowed.pw_uid, self._borrowed.pw_gid)
        return self.run("test", "-w", str(path)).returncode == 0


def _borrow() -> pwd.struct_passwd:
    for name in _BORROWED:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise NoAccount("PostgreSQL refuses to run as root, and there is neither an account postgres nor nobody")

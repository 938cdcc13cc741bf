"""PostgreSQL for the real server, from the package that carries its own.

It refuses to run as root, so root borrows an account for it.
"""

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path

NAME = "memadmin-contract"
_ACCOUNTS = ("postgres", "nobody")


class PostgresFailed(Exception):
    """PostgreSQL did not start; the text says why."""


class Postgres:
    """One cluster. `folder`: its state, moved to the temporary folder when the borrowed account cannot reach it."""

    def __init__(self, folder: Path, venv: Path) -> None:
        self._account = _account() if os.geteuid() == 0 else None
        self.folder = folder if self._can_reach(folder) else Path(tempfile.gettempdir()) / NAME
        self._program = self._find_program(venv)

    def start(self, port: int) -> int:
        """Returns the process id."""
        done = self._pg0("start", "--name", NAME, "-p", str(port), "-d", str(self._data), *_login())
        if done.returncode:
            raise PostgresFailed(f"PostgreSQL did not start: {done.stdout[-800:]}")
        pid = self._run(["head", "-1", str(self._data / "postmaster.pid")])  # as the account that may read it
        return int(pid.stdout.strip() or 0)

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _pg0(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self._run([str(self._program), *words])

    def _run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        log = subprocess.STDOUT
        command = [*self._as_account(), "env", f"HOME={self.folder}", *command]
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=log, text=True, cwd="/", check=False, timeout=120)

    def _as_account(self) -> list[str]:
        if self._account is None:
            return []
        ids = [f"--reuid={self._account.pw_uid}", f"--regid={self._account.pw_gid}"]
        return ["setpriv", *ids, "--clear-groups"]

    def _can_reach(self, folder: Path) -> bool:
        folder.mkdir(parents=True, exist_ok=True)
        if self._account:
            os.chown(folder, self._account.pw_uid, self._account.pw_gid)
        command = [*self._as_account(), "test", "-w", str(folder)]
        return subprocess.run(command, cwd="/", check=False).returncode == 0

    def _find_program(self, venv: Path) -> Path:
        found = next(venv.glob("lib/python3.*/site-packages/pg0/bin/pg0"), None)
        if found is None:
            raise PostgresFailed(f"there is no PostgreSQL in {venv}")
        if not self._can_reach(self.folder):
            raise PostgresFailed(
                f"the account {self._account.pw_name if self._account else '?'} cannot write {self.folder}"
            )
        if subprocess.run([*self._as_account(), "test", "-x", str(found)], cwd="/", check=False).returncode == 0:
            return found
        copy = self.folder / "pg0"  # the environment lies in a folder that is closed to the account
        if not copy.exists():
            shutil.copy2(found, copy)
            copy.chmod(0o755)
        return copy


def _login() -> list[str]:
    return ["-u", "hindsight", "-P", "hindsight", "-n", "hindsight"]


def _account() -> pwd.struct_passwd:
    if shutil.which("setpriv") is None:
        raise PostgresFailed("PostgreSQL refuses to run as root, and there is no setpriv to change the account")
    for name in _ACCOUNTS:
        try:
            return pwd.getpwnam(name)
        except KeyError:
            continue
    raise PostgresFailed("PostgreSQL refuses to run as root, and there is neither an account postgres nor nobody")

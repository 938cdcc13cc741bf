"""PostgreSQL for the real server, from the package that carries its own: Debian's has no vectors."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from tests.services.account import Account, NoAccount

NAME = "memadmin-contract"


class PostgresFailed(Exception):
    """PostgreSQL did not start; the text says why."""


class Postgres:
    """One cluster. `folder`: its state, moved to the temporary folder when the borrowed account cannot reach it."""

    def __init__(self, folder: Path, venv: Path) -> None:
        try:
            self._account = Account()
        except NoAccount as error:
            raise PostgresFailed(str(error)) from error
        self.folder = folder if self._account.folder(folder) else Path(tempfile.gettempdir()) / NAME
        self._program = self._find_program(venv)

    def start(self, port: int) -> int:
        """Returns the process id."""
        done = self._pg0("start", "--name", NAME, "-p", str(port), "-d", str(self._data), *_login())
        if done.returncode:
            raise PostgresFailed(f"PostgreSQL did not start: {done.stdout[-800:]}")
        pid = self._account.run("head", "-1", str(self._data / "postmaster.pid"))  # as the account that may read it
        return int(pid.stdout.strip() or 0)

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _pg0(self, *words: str) -> subprocess.CompletedProcess[str]:
        return self._account.run("env", f"HOME={self.folder}", str(self._program), *words)

    def _find_program(self, venv: Path) -> Path:
        found = next(venv.glob("lib/python3.*/site-packages/pg0/bin/pg0"), None)
        if found is None:
            raise PostgresFailed(f"there is no PostgreSQL in {venv}")
        if not self._account.folder(self.folder):
            raise PostgresFailed(f"the account {self._account.name} cannot write {self.folder}")
        if self._account.run("test", "-x", str(found)).returncode == 0:
            return found
        copy = self.folder / "pg0"  # the environment lies in a folder that is closed to the account
        if not copy.exists():
            shutil.copy2(found, copy)
            copy.chmod(0o755)
        return copy


def _login() -> list[str]:
    return ["-u", "hindsight", "-P", "hindsight", "-n", "hindsight"]

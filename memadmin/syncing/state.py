"""What a sync remembers between its turns: a small file, replaced as a whole. Without it everything is sent again, and
nothing is stored or written twice."""

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Self

from memadmin.syncing.files import Mark
from memadmin.syncing.trouble import FileTrouble


class Busy(Exception):
    """Another sync has this state."""


@dataclass
class Part:
    """One file. `jobs`: imports under way, by the Idempotency-Key they were sent with; `attempt` is part of the keys,
    so that what has failed is not answered from memory."""

    mark: Mark = field(default_factory=Mark)
    attempt: int = 0
    jobs: dict[str, int] = field(default_factory=dict)

    @classmethod
    def parse(cls, stored: Any) -> Self:
        jobs = {str(key): int(pk) for key, pk in stored["jobs"].items()}
        mark = Mark(int(stored["mark"]["read"]), str(stored["mark"]["sha"]))
        return cls(mark, int(stored["attempt"]), jobs)


@dataclass
class State:
    """`cursor`: how far the decisions were read."""

    cursor: str = ""
    queue: Part = field(default_factory=Part)
    log: Part = field(default_factory=Part)


class Store:
    """The file of one sync. `of` says which: a state of another one is not gone on from."""

    def __init__(self, path: Path, of: dict[str, Any]) -> None:
        self.path, self._of = path, of
        self.state = self._read()

    def save(self) -> None:
        fresh = self.path.with_name(f".{self.path.name}.{os.getpid()}")
        try:
            with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
                json.dump({"of": self._of, **asdict(self.state)}, file)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self.path)
        except OSError as error:
            told = f"{self.path}: {error.strerror or error}. Make room, or name another by --state."
            raise FileTrouble(told) from error
        finally:
            with contextlib.suppress(OSError):
                fresh.unlink(missing_ok=True)

    def _read(self) -> State:
        try:
            stored = json.loads(self.path.read_text(encoding="utf-8"))
            if stored["of"] != self._of:
                return State()
            parts = {name: Part.parse(stored[name]) for name in ("queue", "log")}
            return State(str(stored["cursor"]), **parts)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return State()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Raises Busy while another process has it."""
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = os.open(self.path.with_name(f"{self.path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise FileTrouble(f"{self.path}: {error.strerror or error}. Name another one by --state.") from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self.state = self._read()
            yield
        except BlockingIOError as error:
            raise Busy from error
        finally:
            os.close(lock)


def default_path(of: dict[str, Any], environ: Any) -> Path:
    """One for each server, bank and pair of files."""
    home = Path(environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state")
    name = hashlib.sha256(json.dumps(of, sort_keys=True).encode()).hexdigest()[:16]
    return home / "memadmin" / f"sync-{name}.json"

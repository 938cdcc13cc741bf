"""The data folder belongs to one running `memadmin up` at a time, and says which."""

import fcntl
import json
import os
import socket
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from memadmin.runtime import private_folder
from memadmin.supervisor import Failed

LOCK = "up.lock"


@dataclass(frozen=True)
class Running:
    """What a running `up` says about itself."""

    pid: int
    address: str
    hindsight: str  # "demo" or a base URL
    demo_port: int | None = None


class FolderLock:
    """Held for as long as `up` runs; the kernel lets go of it however we end."""

    def __init__(self, base: Path) -> None:
        self.path = base / LOCK
        self._descriptor = -1

    def __enter__(self) -> Self:
        private_folder(self.path.parent)
        self._descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(self._descriptor)
            raise Failed(_taken(self.path.parent, read(self.path))) from None
        except OSError as error:
            os.close(self._descriptor)
            raise Failed(f"{self.path} cannot be locked ({error}). The data folder must be on a local disk.") from error
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.ftruncate(self._descriptor, 0)
        os.close(self._descriptor)

    def describe(self, running: Running) -> None:
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, json.dumps(asdict(running)).encode(), 0)


def read(path: Path) -> Running | None:
    try:
        return Running(**json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return None


def running(base: Path) -> Running | None:
    """The `up` that runs on this folder now, None when there is none."""
    path = base / LOCK
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return read(path)
    finally:
        os.close(descriptor)
    return None


def _taken(base: Path, other: Running | None) -> str:
    who = f" (pid {other.pid}, {other.address})" if other else ""
    return (
        f"memadmin is already running on {base}{who}.\n"
        "Use that one, stop it first, or start a second one with another MEMADMIN_DATA_DIR and PORT."
    )


def check_port(port: int) -> None:
    """Raises Failed when somebody else listens there."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
            probe.listen()
        except PermissionError as error:
            raise Failed(f"Port {port} needs more rights than you have: choose one above 1023 (PORT=8701).") from error
        except OSError as error:
            raise Failed(
                f"Port {port} is in use by another program. Choose another one: PORT={port + 1} make up, "
                f"or memadmin up --port {port + 1}"
            ) from error


def free_port(kept: Any = None) -> int:
    """The kept port when it is still free, else any free one."""
    for wanted in (kept, 0):
        if not isinstance(wanted, int):
            continue
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", wanted))
            except OSError:
                continue
            return int(probe.getsockname()[1])
    raise Failed("No free port on 127.0.0.1.")

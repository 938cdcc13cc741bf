"""Where a running memadmin keeps its socket, and how its processes go down together. No Django here."""

import ctypes
import hashlib
import os
import re
import signal
import stat
import sys
from pathlib import Path
from urllib.parse import quote

# The kernel's limit is 107 bytes on Linux and 103 on macOS, and a server that is over it does not start.
LONGEST_SOCKET_PATH = 100
PR_SET_PDEATHSIG = 1

# Looked up before any fork: between fork and exec only the call itself should happen.
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


def socket_path(data_dir: Path) -> Path:
    """The broker's unix socket. Every command computes the same one, so a deep data folder needs no setting."""
    path = data_dir / "run" / "valkey.sock"
    if len(os.fsencode(path)) <= LONGEST_SOCKET_PATH:
        return path
    user = os.getuid()
    short = Path(f"/run/user/{user}")
    parent = short if short.is_dir() else Path("/tmp")  # noqa: S108  the folder itself is made private and checked
    name = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:12]
    return parent / f"memadmin-{user}-{name}" / "valkey.sock"


def socket_url(data_dir: Path) -> str:
    return f"unix://{quote(str(socket_path(data_dir)))}"


def broker_url(redis_url: str) -> str:
    """What Celery calls the same place: a unix socket has another scheme there, and its database another name."""
    if not redis_url.startswith("unix://"):
        return redis_url
    return re.sub(r"([?&])db=", r"\1virtual_host=", redis_url.replace("unix://", "redis+socket://", 1))


class NotPrivate(Exception):
    """A folder that holds a socket or secrets belongs to somebody else, or others may enter it."""


def private_folder(path: Path) -> Path:
    """The folder, made when it is missing; only its owner may enter it. Raises NotPrivate."""
    path.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise NotPrivate(f"{path} is not a folder of this user: remove it, or choose another MEMADMIN_DATA_DIR.")
    if stat.S_IMODE(found.st_mode) & 0o077:
        path.chmod(0o700)
    return path


def die_with_parent(parent: int, sign: int = signal.SIGTERM) -> None:
    """Linux: this process gets `sign` when its parent dies, however it dies. Elsewhere nothing happens."""
    if _libc is None:
        return
    _libc.prctl(PR_SET_PDEATHSIG, int(sign), 0, 0, 0)
    if os.getppid() != parent:  # it died before we had asked
        os.kill(os.getpid(), sign)

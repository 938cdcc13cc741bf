"""Files that a tool writes: read as they stood at one moment, and appended to as the tool itself does. Never rewritten.

Its writer appends, and now and then puts a shorter file in its place.
"""

import errno
import fcntl
import hashlib
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from memadmin.syncing.trouble import FileTrouble

LARGEST = 512 * 1024 * 1024  # bytes; the tool shortens its file from one megabyte on
# A last line without its end is still being written; after so long it counts as it is.
QUIET = 60.0  # seconds


class Replaced(Exception):
    """Another file stands in its place by now: what was appended may be lost, and the next turn looks again."""


@dataclass(frozen=True, slots=True)
class Mark:
    """How far a file was read."""

    read: int = 0  # bytes
    sha: str = ""  # sha256 of them

    @classmethod
    def of(cls, data: bytes) -> "Mark":
        return cls(len(data), hashlib.sha256(data).hexdigest())

    def begin_in(self, data: bytes) -> int:
        """Where what is new begins: 0 unless the file still begins with what was read."""
        known = memoryview(data)[: self.read]
        return self.read if len(known) == self.read and hashlib.sha256(known).hexdigest() == self.sha else 0


@dataclass(frozen=True, slots=True)
class Signature:
    """What tells a changed file from an unchanged one without reading it."""

    size: int
    mtime_ns: int
    inode: int
    device: int

    @classmethod
    def of(cls, status: os.stat_result) -> "Signature":
        return cls(status.st_size, status.st_mtime_ns, status.st_ino, status.st_dev)


def signature_of(path: Path) -> Signature | None:
    """None when there is no file. Raises FileTrouble for everything but a plain one."""
    try:
        status = path.stat()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR):
            return None
        raise _trouble(path, error) from error
    if not stat.S_ISREG(status.st_mode):
        raise FileTrouble(f"{path} is a folder, a pipe or a device. Name a plain file.")
    if status.st_size > LARGEST:
        raise FileTrouble(f"{path} has {status.st_size:,} bytes, more than the {LARGEST:,} that are read.")
    return Signature.of(status)


def content_of(path: Path) -> bytes:
    """All of it; nothing of a file that is not there."""
    if signature_of(path) is None:
        return b""
    try:
        with path.open("rb") as file:
            return file.read(LARGEST)
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise _trouble(path, error) from error


def lines_of(path: Path) -> bytes:
    """Its whole lines, and the last one too when nobody has gone on writing it for a minute."""
    data = content_of(path)
    if data.endswith(b"\n") or not data:
        return data
    signature = signature_of(path)
    rested = signature is not None and time.time() - signature.mtime_ns / 1e9 > QUIET
    return data if rested else data[: data.rfind(b"\n") + 1]


class Appender:
    """One line, one write at the end of the file: two programs that append never mix their lines."""

    def __init__(self, descriptor: int, path: Path, data: bytes) -> None:
        self._descriptor, self._path = descriptor, path
        self.data = data  # as it stood when the lock was had

    def append(self, line: str) -> None:
        try:
            size = os.fstat(self._descriptor).st_size
            torn = size > 0 and os.pread(self._descriptor, 1, size - 1) != b"\n"
            written = f"\n{line}\n".encode() if torn else f"{line}\n".encode()
            if os.write(self._descriptor, written) < len(written):
                raise FileTrouble(f"{self._path} took a part of a line only. Make room on its disk.")
        except OSError as error:
            raise _trouble(self._path, error) from error


@contextmanager
def appending(path: Path) -> Iterator[Appender]:
    """Other programs of ours wait meanwhile; the tool knows no locks. Raises Replaced at the end."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError as error:
        raise Replaced from error
    except OSError as error:
        raise _trouble(path, error) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if not _is_in_place(path, descriptor):
            raise Replaced
        with os.fdopen(os.dup(descriptor), "rb") as file:
            file.seek(0)
            appender = Appender(descriptor, path, file.read(LARGEST))
        yield appender
        os.fsync(descriptor)
        if not _is_in_place(path, descriptor):
            raise Replaced
    finally:
        os.close(descriptor)


def _is_in_place(path: Path, descriptor: int) -> bool:
    now, ours = signature_of(path), Signature.of(os.fstat(descriptor))
    return now is not None and (now.inode, now.device) == (ours.inode, ours.device)


def _trouble(path: Path, error: OSError) -> FileTrouble:
    told = error.strerror or type(error).__name__
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return FileTrouble(f"{path}: {told}. Give this account (uid {os.getuid()}) the right to read and write it.")
    return FileTrouble(f"{path}: {told}. Look at its disk.")

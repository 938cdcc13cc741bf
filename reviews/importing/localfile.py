"""A file of this machine that somebody else writes: looked at, and copied as it stood at one moment.

It is only read, and nothing here waits: a pipe or a device is refused before it is opened. Its writer appends, and now
and then puts a shorter file in its place; a copy that may mix two states of it is never handed on.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from django.conf import settings

from reviews.importing import files

CHUNK = 1024 * 1024


class Trouble(Exception):
    """Why the file cannot be read; str() also says what to do."""


class Missing(Trouble):
    """There is no such file now."""


class Changing(Exception):
    """It was rewritten while it was copied: the next look will do."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What tells a changed file from an unchanged one without reading it."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @classmethod
    def of(cls, status: os.stat_result) -> "Signature":
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


@dataclass(frozen=True, slots=True)
class Copy:
    name: str  # for files.opened
    signature: Signature  # of the file when the copy was begun
    read: int  # bytes copied
    sha: str  # sha256 of them
    sha_known: str  # sha256 of the first `known` bytes; "" when there are fewer


def signature_of(path: Path) -> Signature:
    """Raises Trouble for everything but a regular file that is not too large."""
    try:
        status = path.stat()
    except OSError as error:
        raise _trouble(error) from error
    _check(status)
    return Signature.of(status)


def copy(path: Path, *, known: int, whole: bool) -> Copy:
    """Copies what ends with a line's end, or all of it when `whole`. Raises Trouble or Changing.

    The copy is the beginning of what the file was at one moment, however it grew meanwhile.
    """
    signature_of(path)  # opening a device can already do something
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError as error:
        raise _trouble(error) from error
    with os.fdopen(descriptor, "rb", buffering=0) as stream:
        before = os.fstat(descriptor)
        _check(before)
        size = before.st_size if whole else _end_of_last_line(stream, before.st_size)
        copying = _Copying(stream, size, known)
        name = _keep(copying)
        try:
            changed = Signature.of(os.fstat(descriptor)) != Signature.of(before)
            if changed and _Copying(stream, size, 0).hash_all() != copying.sha:
                raise Changing
        except BaseException:
            files.remove(name)
            raise
    return Copy(name, Signature.of(before), size, copying.sha, copying.sha_known)


def _check(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise Trouble("It is a folder. MEMADMIN_QUEUE_FILE must name the file itself.")
    if not stat.S_ISREG(status.st_mode):
        raise Trouble("It is a pipe or a device, and only a plain file can be read again. Name another one.")
    if status.st_size > settings.IMPORT_MAX_BYTES:
        raise Trouble(
            f"It has {status.st_size:,} bytes, more than the {settings.IMPORT_MAX_BYTES:,} that are read. Set "
            "MEMADMIN_IMPORT_MB higher, or review in the agent's tool: it makes its file shorter when few wait."
        )


def _trouble(error: OSError) -> Trouble:
    match error.errno:
        case errno.ENOENT | errno.ENOTDIR:
            return Missing("It is not there. It is read as soon as it is; what it brought before stays.")
        case errno.EACCES | errno.EPERM:
            return Trouble(f"It may not be read. Give the account that runs memadmin (uid {os.getuid()}) the right to.")
        case errno.ELOOP:
            return Trouble("It is a link that leads back to itself. Remove it, or name the file it was meant for.")
    return Trouble(f"The system does not read it: {error.strerror or type(error).__name__}. Look at its disk.")


def _end_of_last_line(stream: BinaryIO, size: int) -> int:
    """Where the last complete line ends within the first `size` bytes; 0 when there is none."""
    end = size
    while end > 0:
        start = max(end - CHUNK, 0)
        found = _read_at(stream, start, end - start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def _read_at(stream: BinaryIO, start: int, size: int) -> bytes:
    """Exactly so many bytes. Raises Changing when there are fewer, and Trouble when the disk fails."""
    parts = []
    while size:
        try:
            part = os.pread(stream.fileno(), size, start)
        except OSError as error:
            raise _trouble(error) from error
        if not part:
            raise Changing
        parts.append(part)
        start, size = start + len(part), size - len(part)
    return b"".join(parts)


def _keep(copying: "_Copying") -> str:
    try:
        return files.keep(copying.chunks())
    except OSError as error:
        told = error.strerror or type(error).__name__
        raise Trouble(f"It could not be copied into the data folder: {told}. Make room there.") from error


class _Copying:
    """The first `size` bytes in pieces, hashed on their way."""

    def __init__(self, stream: BinaryIO, size: int, known: int) -> None:
        self._stream, self._size, self._known = stream, size, known
        self._hash = hashlib.sha256()
        self.sha_known = ""

    def chunks(self) -> Iterator[bytes]:
        at = 0
        while True:
            if at == self._known:
                self.sha_known = self._hash.hexdigest()
            if at == self._size:
                return
            stop = self._known if at < self._known < self._size else self._size
            data = _read_at(self._stream, at, min(CHUNK, stop - at))
            self._hash.update(data)
            at += len(data)
            yield data

    @property
    def sha(self) -> str:
        return self._hash.hexdigest()

    def hash_all(self) -> str:
        for _ in self.chunks():
            pass
        return self.sha

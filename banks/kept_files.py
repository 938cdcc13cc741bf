"""Files that people sent, in the data folder until they are done with. Names are ours; nobody's name is a path."""

import os
import re
import secrets
import time
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import BinaryIO

from django.conf import settings

_NAME = re.compile(r"[0-9a-f]{32}\.(session|taken|upload|file|jsonl|export|transfer)")
STRAY_AFTER = 3600  # seconds


class TooLarge(Exception):
    """Above the limit; nothing of it was kept."""


def keep(chunks: Iterable[bytes], *, kind: str, most: int) -> str:
    """Stores the bytes, piece by piece, and returns their name. Raises TooLarge. `kind`: "session", "jsonl",
    "upload" (nobody has said yet what it is for), "file"."""
    name = f"{secrets.token_hex(16)}.{kind}"
    path, size = path_of(name), 0
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        with path.open("xb") as target:
            for chunk in chunks:
                size += len(chunk)
                if size > most:
                    raise TooLarge
                target.write(chunk)
    except BaseException:
        remove(name)
        raise
    return name


def opened(name: str) -> BinaryIO:
    """Raises FileNotFoundError, also for what is no name of ours."""
    return path_of(name).open("rb")


def take(name: str, kind: str = "taken") -> str:
    """A file that only one of several requests gets: under the name returned. Raises FileNotFoundError for the rest."""
    taken = f"{name.partition('.')[0]}.{kind}"
    os.utime(path_of(name))  # no stray yet
    path_of(name).rename(path_of(taken))
    return taken


def give_back(taken: str, name: str) -> None:
    path_of(taken).rename(path_of(name))


def remove(name: str) -> None:
    path_of(name).unlink(missing_ok=True)


def remove_strays(kind: str, wanted: Collection[str] = ()) -> int:
    """Removes what nobody came back for within an hour, but for `wanted`. Returns how many."""
    folder = Path(settings.MEDIA_ROOT)
    border = time.time() - STRAY_AFTER
    strays = [path for path in folder.glob(f"*.{kind}") if path.name not in wanted and path.stat().st_mtime < border]
    for path in strays:
        path.unlink(missing_ok=True)
    return len(strays)


def path_of(name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise FileNotFoundError(name)
    return Path(settings.MEDIA_ROOT) / name

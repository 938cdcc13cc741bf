"""Uploaded files: in the data folder until their job has ended; afterwards the raw lines are in the database."""

import re
import secrets
import time
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from django.conf import settings

from banks.models import Job

_NAME = re.compile(r"[0-9a-f]{32}\.jsonl")
STRAY_AFTER = 3600  # seconds


class TooLarge(Exception):
    """The file is above the limit; nothing of it was kept."""


def keep(chunks: Iterable[bytes]) -> str:
    """Stores the bytes and returns the name to give to `opened`. Raises TooLarge above the limit."""
    folder = _folder()
    name = f"{secrets.token_hex(16)}.jsonl"
    size = 0
    try:
        with (folder / name).open("xb") as target:
            for chunk in chunks:
                size += len(chunk)
                if size > settings.IMPORT_MAX_BYTES:
                    raise TooLarge
                target.write(chunk)
    except BaseException:
        remove(name)
        raise
    return name


def opened(name: str) -> BinaryIO:
    """Raises FileNotFoundError."""
    return _path(name).open("rb")


def remove(name: str) -> None:
    _path(name).unlink(missing_ok=True)


def remove_strays() -> int:
    """Removes files whose upload broke off or whose job has ended without removing them."""
    waiting = Job.objects.exclude(state__in=Job.ENDED)
    wanted = {params.get("file") for params in waiting.values_list("params", flat=True)}
    strays = [
        path
        for path in _folder().glob("*.jsonl")
        if path.name not in wanted and path.stat().st_mtime < time.time() - STRAY_AFTER
    ]
    for path in strays:
        path.unlink(missing_ok=True)
    return len(strays)


def _folder() -> Path:
    folder = Path(settings.MEDIA_ROOT)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def _path(name: str) -> Path:
    if not _NAME.fullmatch(name):
        raise FileNotFoundError(name)
    return _folder() / name

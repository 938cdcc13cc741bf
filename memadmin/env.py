"""Typed reading of the environment; every secret may also come from a file named by `NAME_FILE`."""

import fcntl
import math
import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured


def text(name: str, default: str = "") -> str:
    """The value of NAME, or the content of the file named by NAME_FILE, stripped of surrounding white space."""
    if file_name := os.environ.get(f"{name}_FILE"):
        try:
            return Path(file_name).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ImproperlyConfigured(f"{name}_FILE names {file_name}, which cannot be read: {error}") from error
    return os.environ.get(name, default).strip()


def flag(name: str, *, default: bool) -> bool:
    value = text(name).lower()
    if not value:
        return default
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off"}:
        return False
    raise ImproperlyConfigured(f"{name} must be yes or no, not {value!r}")


def number(name: str, default: float) -> float:
    value = text(name)
    if not value:
        return default
    try:
        found = float(value)
        if not math.isfinite(found):
            raise ValueError(value)
        return found
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must be a number, not {value!r}") from error


def choice(name: str, choices: tuple[str, ...]) -> str:
    """One of these words; the first when nothing is said."""
    value = text(name).lower() or choices[0]
    if value not in choices:
        raise ImproperlyConfigured(f"{name} must be {', '.join(choices[:-1])} or {choices[-1]}, not {value!r}")
    return value


def needed(name: str, because: str) -> str:
    if not (value := text(name)):
        raise ImproperlyConfigured(f"{because} is set, so {name} is needed too")
    return value


def issuer(name: str) -> str:
    """The address of an OpenID Connect issuer, as it writes it itself; plain http only on this machine."""
    value = text(name).rstrip("/")
    try:
        parts = urlsplit(value)
        local = parts.hostname in {"localhost", "127.0.0.1", "::1"}
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} is no address: {error}") from error
    if value and not (parts.hostname and (parts.scheme == "https" or (parts.scheme == "http" and local))):
        raise ImproperlyConfigured(f"{name} must be https://host, not {value!r}")
    return value


def words(name: str, default: str = "") -> list[str]:
    """A comma separated list without blanks."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def kept_secret(name: str, file: Path) -> str:
    """A secret from the environment, else from `file`, which is created (mode 0600) with a fresh one at first use.

    Two processes that start together agree: the file is created exclusively and the loser reads it.
    """
    if value := text(name):
        return value
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        fresh = _private_file(file, secrets.token_urlsafe(48))
        try:
            os.link(fresh, file)  # appears complete, or not at all
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    return file.read_text(encoding="utf-8").strip()


def kept_keys(name: str, file: Path) -> list[str]:
    """The same for a list of secrets: comma separated, or one a line."""
    if keys := _keys_in(kept_secret(name, file)):
        return keys
    raise ImproperlyConfigured(f"{file} holds no key. Put it back from where it was kept, or set {name}.")


def add_kept_key(file: Path) -> int:
    """Puts a fresh secret in front of those in `file`; how many it holds then. Never seen half written."""
    with _held(file.parent):
        keys = [secrets.token_urlsafe(48), *_keys_in(file.read_text(encoding="utf-8"))]
        fresh = _private_file(file, "".join(f"{key}\n" for key in keys))
        fresh.replace(file)
    return len(keys)


def _keys_in(text: str) -> list[str]:
    return [key.strip() for key in re.split(r"[,\n]", text) if key.strip()]


def _private_file(beside: Path, text: str) -> Path:
    path = beside.with_name(f".{beside.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(descriptor)
    return path


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Two commands that add a key at once would lose one of them."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

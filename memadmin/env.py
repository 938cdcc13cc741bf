"""Typed reading of the environment; every secret may also come from a file named by `NAME_FILE`."""

import os
import secrets
from pathlib import Path

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
        return float(value)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must be a number, not {value!r}") from error


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
        fresh = file.with_name(f".{file.name}.{os.getpid()}.{secrets.token_hex(4)}")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="ascii") as stream:
            stream.write(secrets.token_urlsafe(48))
        try:
            os.link(fresh, file)  # appears complete, or not at all
        except FileExistsError:
            pass
        finally:
            fresh.unlink()
    return file.read_text(encoding="ascii").strip()

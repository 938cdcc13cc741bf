"""The two files on this machine, where the operator said that they may be read and saved here.

Saving changes one key and keeps everything else. What was on screen is compared with the file as it is now, and the
new file takes the place of the old one in one step: whoever reads it meanwhile finds the one or the other.
"""

import contextlib
import hashlib
import json
import math
import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from banks.services.refusal import Refusal
from reviews.agentconfig.keys import KEYS, Key
from reviews.agentconfig.layers import MOST_BYTES, Layer, Malformed, Place, layer_of, parse

NAME = "hindsight.json"
MOST = 2**53  # numbers that every reader of JSON takes alike
ABSENT = "-"  # instead of the hash of a file that is not there

CHANGED = "The file was changed meanwhile, by the tool or by hand. Nothing was saved: look at what it says now."
MALFORMED = "{why} Saving would lose what is in it: mend it by hand first. Nothing was saved."
CANNOT = "The file could not be saved ({why}). It is as it was."


class Unreadable(Exception):
    """It is there and cannot be read; str() says why."""


@dataclass(frozen=True)
class LocalFile:
    """`seen`: what tells this state of the file from another."""

    path: Path
    layer: Layer
    seen: str
    trouble: str = ""


def is_on() -> bool:
    """Never for a team and never in the demo, whatever else is set: it must not touch real files."""
    return bool(settings.AGENT_FOLDERS) and not settings.PRODUCTION and not settings.DEMO


def folders() -> list[Path]:
    """The projects whose files may be looked at, as the operator named them."""
    return [Path(name).expanduser().absolute() for name in settings.AGENT_FOLDERS] if is_on() else []


def path_of(place: Place, folder: Path) -> Path:
    if place == "project":
        return folder / ".pi" / NAME
    home = os.environ.get("HOME") or os.environ.get("USERPROFILE")
    return (Path(home) if home else Path.home()) / ".pi" / "agent" / NAME


def look(place: Place, folder: Path) -> LocalFile:
    path = path_of(place, folder)
    try:
        raw = _read(path)
    except Unreadable as error:
        return LocalFile(path, Layer(place, trouble=str(error)), "", str(error))
    return LocalFile(path, layer_of(place, raw), _seen(raw))


def save(*, place: Place, folder: Path, name: str, value: str | None, seen: str) -> tuple[Any, Any]:
    """Sets one key, or with `value` None takes it out: what stood there and what does, None = nothing.

    Raises Refusal, and then nothing was changed.
    """
    key = KEYS.get(name)
    if key is None:
        raise Refusal("The tool knows no such key.", field="name")
    path = path_of(place, folder).resolve()  # a link stays a link
    try:
        raw = _read(path)
        if _seen(raw) != seen:
            raise Refusal(CHANGED)
        values = parse(raw) if raw is not None else {}
    except Malformed as error:
        raise Refusal(MALFORMED.format(why=error)) from error
    except Unreadable as error:
        raise Refusal(CANNOT.format(why=error)) from error
    old = values.pop(name, None) if value is None else values.get(name)
    if value is not None:
        values[name] = value_of(key, value)
    try:
        text = json.dumps(values, indent=2, ensure_ascii=False, allow_nan=False).encode() + b"\n"
    except ValueError as error:  # halves of characters, numbers beyond all bounds
        raise Refusal("The file holds something that cannot be written again unchanged. Nothing was saved.") from error
    _replace(path, text, raw)
    return old, values.get(name)


def value_of(key: Key, text: str) -> Any:
    """What was typed in, as the file has it. Raises Refusal."""
    text = text.strip()
    match key.kind:
        case "whole" | "number":
            return _number(text, whole=key.kind == "whole")
        case "flag":
            if text.lower() not in {"true", "false", "on", "off"}:
                raise Refusal("Write true or false.", field="value")
            return text.lower() in {"true", "on"}
        case "choice":
            if text not in key.options:
                raise Refusal(f"The tool knows {', '.join(key.options)}.", field="value")
        case "list":
            return [part.strip() for part in text.split(",") if part.strip()]
        case "object":
            try:
                return parse(text.encode("utf-8", "replace"))
            except Malformed as error:
                raise Refusal(f"{error}", field="value") from error
    if not text:
        raise Refusal("A blank is taken for an empty value. To inherit, take the key out of the file.", field="value")
    return text


def _number(text: str, *, whole: bool) -> int | float:
    try:
        number = float(text)
    except ValueError as error:
        raise Refusal("That is no number.", field="value") from error
    if not math.isfinite(number) or abs(number) > MOST or (whole and not number.is_integer()):
        raise Refusal("Write a whole number." if whole else "That number is too large.", field="value")
    return int(number) if number.is_integer() else number


def _read(path: Path) -> bytes | None:
    """None = there is no such file. Raises Unreadable."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise Unreadable("It is no ordinary file.")
        with path.open("rb") as file:
            return file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unreadable(error.strerror or type(error).__name__) from error


def _seen(raw: bytes | None) -> str:
    return ABSENT if raw is None else hashlib.sha256(raw).hexdigest()


def _replace(path: Path, text: bytes, before: bytes | None) -> None:
    temporary: Path | None = None
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=f".{NAME}.", dir=path.parent)
        temporary = Path(name)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(descriptor)
            if before is not None:
                os.fchmod(descriptor, stat.S_IMODE(path.stat().st_mode))
        if _read(path) != before:
            raise Refusal(CHANGED)
        temporary.replace(path)
        temporary = None
    except Unreadable as error:
        raise Refusal(CANNOT.format(why=error)) from error
    except OSError as error:
        raise Refusal(CANNOT.format(why=error.strerror or type(error).__name__)) from error
    finally:
        if temporary:
            with contextlib.suppress(OSError):
                temporary.unlink()

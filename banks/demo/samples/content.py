"""Reading the sample files, and the few texts that are better made than written."""

import base64
import hashlib
import re
import tomllib
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any

_AGE = re.compile(r"(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?")
_JOURNAL_ENTRIES = 560
_SERVICES = ("Kronos", "Ledger", "Courier", "Beacon", "Harbor")
_EVENTS = (
    "{service} worker {number} fell behind by {lag} jobs. The backlog was drained before the next check.",
    "Olu restarted {service} replica {number} after it held a lock for {lag} seconds.",
    "The queue of {service} grew to {lag} messages. Nobody touched the limits.",
    "Sam compared {service} with the numbers of last week: {lag} ms now, {number} ms then.",
    "A deploy of {service} was stopped at step {number} because the error rate was {lag} in ten thousand.",
)


@dataclass(frozen=True, slots=True)
class SampleDocument:
    """One document. `retire` and `edit` name facts by a part of their text."""

    id: str
    text: str
    age: timedelta
    reason: str
    language: str
    session: str = ""
    context: str = ""
    tags: list[str] = field(default_factory=list)
    metadata: dict[str, str] = field(default_factory=dict)
    retire: list[dict[str, str]] = field(default_factory=list)
    edit: list[dict[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SampleBank:
    bank_id: str
    name: str
    language: str
    project: str
    documents: list[SampleDocument]


@cache
def load() -> tuple[SampleBank, ...]:
    """All sample banks, in the order of their file names."""
    return tuple(_bank(file) for file in sorted(Path(__file__).parent.glob("*.toml")))


def _bank(file: Path) -> SampleBank:
    raw = tomllib.loads(file.read_text(encoding="utf-8"))
    documents = [_document(each, raw["language"]) for each in raw.pop("documents")]
    return SampleBank(documents=documents, **raw)


def _document(raw: dict[str, Any], language: str) -> SampleDocument:
    text = raw["text"].rstrip("\n")
    for name, make in (("secret", _secret), ("blob", _blob), ("journal", _journal)):
        if f"{{{name}}}" in text:
            text = text.replace(f"{{{name}}}", make())
    return SampleDocument(**({"language": language} | raw | {"text": text, "age": _age(raw["age"])}))


def _age(text: str) -> timedelta:
    found = _AGE.fullmatch(text)
    if not found or not text:
        raise ValueError(f"not an age: {text!r}")
    days, hours, minutes = (int(part or 0) for part in found.groups())
    return timedelta(days=days, hours=hours, minutes=minutes)


def _secret() -> str:
    """Of the form of a storage access key, but no key. Put together here so that no scanner finds it in the source."""
    return "AKIA" + _digest("a key that never existed").hex().upper()[:16]


def _blob() -> str:
    """Base64 of bytes that mean nothing, in one long run."""
    return base64.b64encode(b"".join(_digest(f"blob {number}") for number in range(90))).decode("ascii")


def _journal() -> str:
    """A text of well over forty thousand characters."""
    lines = ["Journal of incident INC-311, the slow queue. Written by the agent on duty, one entry every two minutes."]
    for entry in range(_JOURNAL_ENTRIES):
        dice = _digest(f"entry {entry}")
        hour, minute = divmod(entry * 2, 60)
        words = _EVENTS[dice[0] % len(_EVENTS)].format(
            service=_SERVICES[dice[1] % len(_SERVICES)],
            number=dice[2] % 9 + 1,
            lag=int.from_bytes(dice[3:5], "big") % 900,
        )
        lines.append(f"{hour:02d}:{minute:02d} {words}")
        if entry % 30 == 29:
            lines.append("")
    lines.append("Cause found at last: one consumer acknowledged before it stored. Fixed by Priya on 2026-11-27.")
    return "\n".join(lines)


def _digest(seed: str) -> bytes:
    return hashlib.sha256(seed.encode()).digest()

"""From the bytes of a log.jsonl to its entries. Pure, and nothing a file holds can raise here.

Lines end at LF only, as in a queue file. The tool that writes the file cuts every string at 20,000 UTF-16 units and
puts one "…" behind it; such a text is marked, since it is not what was stored.
"""

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from memadmin.jsonlines import SURROGATE, Skipped, record_of

LONGEST_LINE = 4 * 1024 * 1024  # bytes; a recall with all its hits has some 100,000
CLIPPED_AT = 20_000  # UTF-16 units
MOST_KILLS = 1_000  # of one line; the tool retires at most 60 at once
RECALLS = ("recall", "reflect")
ABOUT_FACTS = ("invalidate", "restore")
KNOWN = (*RECALLS, "retain", *ABOUT_FACTS, "error")

_TEXTS = ("query", "operation", "filter", "reason", "injectedText", "documentText", "stage", "message")
_COUNTS = ("found", "injected", "skipped", "chunks", "documents", "lines")
_SHOWN_OF_ANY = frozenset({"ts", "type", "stage", "message"})
_LARGEST = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Kill:
    """A fact that was retired or restored. `text`: None when the line has none."""

    id: str
    quote: str
    text: str | None
    clipped: bool  # the text, not the quote


@dataclass(frozen=True, slots=True)
class Entry:
    """One line. Texts and counts are there when the line has them and they are of their type."""

    type: str
    ts: str
    digest: bytes  # sha256 of the whole record, whatever the order of its keys
    texts: dict[str, str]
    counts: dict[str, int]
    hits: tuple[str, ...]
    kills: tuple[Kill, ...]
    private: str  # the prompt; of a type nobody knows, all that is not shown
    clipped: tuple[str, ...]  # names of the fields that the writer has cut


def parse(data: bytes) -> Entry | Skipped | None:
    """The entry of a line, why it is none, or None for a blank line."""
    record = record_of(data, LONGEST_LINE, "entries")
    if not isinstance(record, dict):
        return record
    try:
        return _entry(record)
    except RecursionError:
        return Skipped("nested too deep")


def is_clipped(text: str) -> bool:
    """Whether the writer has cut it. A text that only looks so cannot be told apart, and is none the writer leaves."""
    return text.endswith("…") and len(text) <= CLIPPED_AT + 1 and _utf16(text) == CLIPPED_AT + 1


def _entry(record: dict[str, Any]) -> Entry | Skipped:
    kind = record.get("type")
    if not isinstance(kind, str) or not kind.strip():
        return Skipped("an event of a review queue: import it as one" if "ev" in record else "it has no type")
    kills = record.get("kills") if kind in ABOUT_FACTS else None
    if isinstance(kills, list) and len(kills) > MOST_KILLS:
        return Skipped(f"more than {MOST_KILLS:,} facts in one line")
    clipped: list[str] = []

    def text_of(name: str, value: Any) -> str:
        if is_clipped(value) and name not in clipped:
            clipped.append(name)
        return whole(value)

    hits = record.get("rawHits") if kind in RECALLS else None
    found_kills = tuple(_kills(kills if isinstance(kills, list) else [], text_of))
    return Entry(
        type=whole(kind.strip()),
        ts=whole(record["ts"]) if isinstance(record.get("ts"), str) else "",
        digest=hashlib.sha256(json.dumps(record, sort_keys=True, separators=(",", ":")).encode()).digest(),
        texts={name: text_of(name, record[name]) for name in _TEXTS if isinstance(record.get(name), str)},
        counts={name: number for name in _COUNTS if (number := _count(record.get(name))) is not None},
        hits=tuple(text_of("rawHits", hit) for hit in hits if isinstance(hit, str)) if isinstance(hits, list) else (),
        kills=found_kills,
        private=_private(kind, record, text_of),
        clipped=tuple(clipped),
    )


def _kills(kills: list[Any], text_of: Callable[[str, Any], str]) -> Any:
    """Each fact once; what names no fact is left out."""
    seen = set()
    for kill in kills:
        if not isinstance(kill, dict) or not isinstance(kill.get("id"), str) or kill["id"] in seen:
            continue
        seen.add(kill["id"])
        text, quote = kill.get("text"), kill.get("quote")
        yield Kill(
            id=text_of("id", kill["id"]),
            quote=text_of("quote", quote) if isinstance(quote, str) else "",
            text=text_of("text", text) if isinstance(text, str) else None,
            clipped=isinstance(text, str) and is_clipped(text),
        )


def _private(kind: str, record: dict[str, Any], text_of: Callable[[str, Any], str]) -> str:
    """What a person typed. Nobody knows what an unknown type holds, so there it is everything that is not shown."""
    if kind in KNOWN:
        user = record.get("user")
        if user in (None, "", [], {}):
            return ""
        return text_of("user", user) if isinstance(user, str) else whole(_pretty(user))
    rest = {name: value for name, value in record.items() if name not in _SHOWN_OF_ANY}
    return whole(_pretty(rest)) if rest else ""


def whole(text: str) -> str:
    """As it stands, with half characters marked: no UTF-8 holds one."""
    return SURROGATE.sub("\ufffd", text)


def _pretty(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1)


def _count(value: Any) -> int | None:
    """Numbers only, and only such as count something."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _LARGEST:
        return None
    return int(value)


def _utf16(text: str) -> int:
    return len(text) + sum(character > "\uffff" for character in text)

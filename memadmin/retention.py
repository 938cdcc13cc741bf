"""Bounded output: what did we keep, what did we omit, and may the caller stop reading now?

A caller pushes items or chunks of text into a retainer, learns after each push whether more is of any use, and gets
what was kept together with how much was left out. That is all: nothing here knows pages, files or servers.

`truncated` is a fact about the budget. A source that could not be read to its end, a page that was refused, bytes that
are no UTF-8 are other facts, and belong into other fields.

Text is counted in bytes of UTF-8. Where a cut falls into a character, its remaining bytes are dropped and counted as
omitted; the parts before and behind the gap are decoded each for itself, so no character is made up of both. A byte
order mark is a character like others and stays. Half a surrogate pair, which UTF-8 cannot hold, becomes U+FFFD.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Literal, TypeVar, get_args

Item = TypeVar("Item")

TextKind = Literal["head", "tail", "head_tail"]
Stop = Literal["stop_when_full", "read_to_end"]
Unit = Literal["items", "bytes", "chars", "lines"]

_HALF_CHARACTERS = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Omitted:
    """How much was left out. `count` is there for "exact" and "at_least" only, and at least 1 then."""

    kind: Literal["none", "exact", "at_least", "unknown"] = "none"
    count: int | None = None

    def __bool__(self) -> bool:
        return self.kind != "none"


NOTHING = Omitted()
UNKNOWN = Omitted("unknown")  # for callers who dropped something without counting


@dataclass(frozen=True, slots=True)
class PushDecision:
    """What became of one push.

    kept: it caused no (further) omission; truncated: something has been omitted by now; should_stop: nothing that is
    pushed later can be kept, and nobody asked for the exact number. The last is advice: who reads closes the source.
    """

    kept: bool
    truncated: bool
    should_stop: bool


@dataclass(frozen=True, slots=True)
class RetainedItems(Generic[Item]):
    """`seen` counts what was pushed, which is not what the source holds when reading stopped early."""

    items: list[Item]
    truncated: bool
    seen: int
    omitted: Omitted

    @property
    def kept(self) -> int:
        return len(self.items)


@dataclass(frozen=True, slots=True)
class RetainedText:
    """`head` and `tail` lie before and behind the gap, so that a page can mark it; without a gap all is `head`."""

    head: str
    tail: str
    truncated: bool
    omitted: Omitted  # bytes

    @property
    def text(self) -> str:
        return self.head + self.tail


@dataclass(frozen=True, slots=True)
class RetentionNotice:
    """What a reader is told about one bounded output. `limit`: the cap, or (head, tail)."""

    scope: str
    strategy: str
    unit: Unit
    limit: int | tuple[int, int]
    kept: int
    omitted: Omitted


class ItemRetainer(Generic[Item]):
    """Keeps the first `max_items`. The first item beyond them is the probe: it proves that there is more.

    Raises ValueError for a cap that is no integer from 0 and for an unknown `stop`.
    """

    def __init__(self, max_items: int, *, stop: Stop = "read_to_end") -> None:
        self._max = _cap(max_items, "max_items")
        self._stops = _stops(stop)
        self._items: list[Item] = []
        self._seen = 0

    def push(self, item: Item) -> PushDecision:
        self._seen += 1
        if len(self._items) < self._max:
            self._items.append(item)
            return PushDecision(kept=True, truncated=False, should_stop=False)
        return PushDecision(kept=False, truncated=True, should_stop=self._stops)

    def finish(self) -> RetainedItems[Item]:
        """May be called at any time, and again; the list is the caller's own."""
        left_out = self._seen - len(self._items)
        return RetainedItems(list(self._items), left_out > 0, self._seen, _omitted(left_out, lower_bound=self._stops))


class TextRetainer:
    """Keeps the beginning ("head"), the end ("tail") or both ("head_tail") of a stream of text.

    Caps are bytes: `max_bytes` for head and tail, `head_bytes` and `tail_bytes` for both. Only a head can stop early.
    Holds what it keeps and, during a push, one chunk. Raises ValueError for a cap that is no integer from 0, for a cap
    that does not belong to the kind, and for an unknown `kind` or `stop`.
    """

    def __init__(
        self,
        kind: TextKind,
        *,
        max_bytes: int | None = None,
        head_bytes: int | None = None,
        tail_bytes: int | None = None,
        stop: Stop = "read_to_end",
    ) -> None:
        if kind not in get_args(TextKind):
            raise ValueError(f"kind must be one of {', '.join(get_args(TextKind))}, not {kind!r}")
        self._stops = _stops(stop)
        if self._stops and kind != "head":
            raise ValueError(f"a {kind} is known only at the end: stop must be read_to_end")
        if kind == "head_tail":
            _absent(max_bytes=max_bytes)
            self._prefix_cap, self._suffix_cap = _cap(head_bytes, "head_bytes"), _cap(tail_bytes, "tail_bytes")
        else:
            _absent(head_bytes=head_bytes, tail_bytes=tail_bytes)
            cap = _cap(max_bytes, "max_bytes")
            self._prefix_cap, self._suffix_cap = (cap, 0) if kind == "head" else (0, cap)
        self._prefix, self._suffix = bytearray(), bytearray()
        self._total = 0

    def push(self, chunk: str | bytes | bytearray | memoryview) -> PushDecision:
        """One more chunk, of any length; a character may be spread over several of them."""
        data = _HALF_CHARACTERS.sub("\ufffd", chunk).encode() if isinstance(chunk, str) else _bytes_of(chunk)
        before = self._over_budget
        self._total += len(data)
        room = self._prefix_cap - len(self._prefix)
        if room > 0:
            self._prefix += data[:room]
        if self._suffix_cap and len(data) > room:
            rest = data[max(room, 0) :]
            self._suffix += rest[max(len(rest) - self._suffix_cap, 0) :]
            del self._suffix[: max(len(self._suffix) - self._suffix_cap, 0)]
        kept = self._over_budget == before
        return PushDecision(kept=kept, truncated=self._over_budget > 0, should_stop=self._stops and not kept)

    def finish(self) -> RetainedText:
        """May be called at any time, and again."""
        if not self._over_budget:
            # In one piece: a character may lie half in the one and half in the other part.
            return RetainedText(_decoded(self._prefix + self._suffix), "", truncated=False, omitted=NOTHING)
        head, tail = _without_cut_end(self._prefix), _without_cut_beginning(self._suffix)
        left_out = self._total - len(head) - len(tail)
        omitted = _omitted(left_out, lower_bound=self._stops)
        return RetainedText(_decoded(head), _decoded(tail), truncated=True, omitted=omitted)

    @property
    def _over_budget(self) -> int:
        """Bytes that the caps leave out, before whole characters are thought of."""
        return self._total - len(self._prefix) - min(self._total - len(self._prefix), self._suffix_cap)


def head_of(text: str | bytes | bytearray | memoryview, max_bytes: int) -> RetainedText:
    """The beginning of a text that is at hand."""
    retainer = TextRetainer("head", max_bytes=max_bytes)
    retainer.push(text)
    return retainer.finish()


def ends_of(text: str | bytes | bytearray | memoryview, head_bytes: int, tail_bytes: int) -> RetainedText:
    """The beginning and the end of a text that is at hand."""
    retainer = TextRetainer("head_tail", head_bytes=head_bytes, tail_bytes=tail_bytes)
    retainer.push(text)
    return retainer.finish()


def first_of(items: Iterable[Item], max_items: int) -> RetainedItems[Item]:
    """The first items of all of them."""
    retainer: ItemRetainer[Item] = ItemRetainer(max_items)
    for item in items:
        retainer.push(item)
    return retainer.finish()


def describe_omitted(omitted: Omitted, unit: Unit) -> str:
    """One clause, "" for nothing. A number is said only where it is exact."""
    if omitted.kind == "none":
        return ""
    if omitted.kind == "exact":
        return f"Omitted {omitted.count} {unit}."
    return f"More {unit} were omitted."


def format_retention_notice(notice: RetentionNotice, recovery: Callable[[RetentionNotice], str]) -> str:
    """The clause and the caller's own words about what to do, joined by a space; "" when both are empty."""
    parts = [describe_omitted(notice.omitted, notice.unit), recovery(notice)]
    return " ".join(part for part in parts if part)


def _cap(value: int | None, name: str) -> int:
    if type(value) is not int or value < 0:  # not isinstance: True is no number of anything
        raise ValueError(f"{name} must be a non-negative integer")
    return value


def _absent(**caps: int | None) -> None:
    for name, value in caps.items():
        if value is not None:
            raise ValueError(f"{name} does not belong to this kind")


def _stops(stop: Stop) -> bool:
    if stop not in get_args(Stop):
        raise ValueError(f"stop must be one of {', '.join(get_args(Stop))}, not {stop!r}")
    return stop == "stop_when_full"


def _omitted(count: int, *, lower_bound: bool) -> Omitted:
    if not count:
        return NOTHING
    return Omitted("at_least" if lower_bound else "exact", count)


def _bytes_of(chunk: bytes | bytearray | memoryview) -> memoryview:
    """Byte by byte, whatever the items of a view are; only what does not lie in one piece is copied."""
    view = memoryview(chunk)
    return view.cast("B") if view.c_contiguous else memoryview(view.tobytes())


def _decoded(data: bytes | bytearray) -> str:
    return data.decode("utf-8", "replace")


def _without_cut_end(data: bytearray) -> bytearray:
    """Without the bytes of a character at the end that is not whole. What is no UTF-8 anyhow stays as it is."""
    back = 0
    while back < min(3, len(data)) and data[-1 - back] & 0xC0 == 0x80:
        back += 1
    if back >= len(data):
        return data
    lead = data[-1 - back]
    needed = _length_of(lead)
    return data[: len(data) - back - 1] if needed > back + 1 else data


def _length_of(lead: int) -> int:
    """Bytes of the character that begins with this one, as far as its first bits tell; 0 for what begins none."""
    if lead < 0x80:
        return 1
    if lead < 0xE0:
        return 2
    if lead < 0xF0:
        return 3
    return 4 if lead < 0xF8 else 0


def _without_cut_beginning(data: bytearray) -> bytearray:
    """Without continuation bytes at the beginning: what they continue is not here."""
    start = 0
    while start < len(data) and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:]

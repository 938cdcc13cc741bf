"""Before and after, line by line and word by word, bounded in time and size: texts of megabytes come here too."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from banks.hidden import Segment, segments
from banks.secrets.masking import numbered
from memadmin.retention import NOTHING, ItemRetainer, Omitted, head_of

MAX_LINES = 300  # printed
MAX_LINE = 1200  # bytes of one printed piece, and characters of a line that is compared by words
LINE_WORK = 250_000  # old lines x new lines that are matched one by one; beyond, the middle is one replacement
WORD_WORK = 2_000_000  # old words x new words, for the whole diff
AROUND = 80  # unchanged characters kept beside a change in a very long line

_WORDS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|\w+|\s+|.", re.DOTALL)


Opcode = tuple[str, int, int, int, int]


@dataclass(frozen=True)
class Piece:
    """Part of a line: unchanged when `op` is empty, else "ins" or "del"."""

    op: str
    segments: list[Segment]


@dataclass(frozen=True)
class Line:
    """`op` is "add", "del" or "skip" (then `note` says what is left out)."""

    op: str
    pieces: list[Piece] = field(default_factory=list)
    note: str = ""


@dataclass(frozen=True)
class Diff:
    lines: list[Line]
    changed: int  # places that differ
    only_line_ends: bool = False
    omitted: Omitted = NOTHING  # lines

    @property
    def same(self) -> bool:
        return not self.changed and not self.only_line_ends


def diff(before: str, after: str) -> Diff:
    """Secrets go by a name in it, the same one for the same value."""
    if before == after:
        return Diff([], 0)
    before, after = numbered(before, after)
    old, new = _lines(before), _lines(after)
    if old == new:
        return Diff([], 0, only_line_ends=True)
    budget = [WORD_WORK]
    lines: ItemRetainer[Line] = ItemRetainer(MAX_LINES)
    changed = 0
    for op, a1, a2, b1, b2 in _opcodes(old, new):
        if op == "equal":
            lines.push(Line("skip", note=f"{a2 - a1} line{'' if a2 - a1 == 1 else 's'} unchanged"))
            continue
        changed += 1
        for line in _change(old[a1:a2], new[b1:b2], budget):
            lines.push(line)
    shown = lines.finish()
    return Diff(shown.items, changed, omitted=shown.omitted)


def _lines(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _opcodes(old: list[str], new: list[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """difflib's, after what is alike at both ends is taken off."""
    head = _alike(old, new)
    tail = min(_alike(old[::-1], new[::-1]), min(len(old), len(new)) - head)
    a, b = old[head : len(old) - tail], new[head : len(new) - tail]
    if head:
        yield "equal", 0, head, 0, head
    if len(a) * len(b) > LINE_WORK:
        yield "replace", head, head + len(a), head, head + len(b)
    else:
        for op, a1, a2, b1, b2 in SequenceMatcher(None, a, b).get_opcodes():
            yield op, head + a1, head + a2, head + b1, head + b2
    if tail:
        yield "equal", len(old) - tail, len(old), len(new) - tail, len(new)


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    count = 0
    for left, right in zip(one, other, strict=False):
        if left != right:
            break
        count += 1
    return count


def _change(old: list[str], new: list[str], budget: list[int]) -> Iterator[Line]:
    """Lines that stand in the same place are compared by words, what is left over was removed or added."""
    paired = min(len(old), len(new))
    for left, right in zip(old[:paired], new[:paired], strict=True):
        before, after = _words(left, right, budget)
        yield Line("del", before)
        yield Line("add", after)
    for left in old[paired:]:
        yield Line("del", [_piece("", left)])
    for right in new[paired:]:
        yield Line("add", [_piece("", right)])


def _words(left: str, right: str, budget: list[int]) -> tuple[list[Piece], list[Piece]]:
    head = _alike(left, right)
    tail = min(_alike(left[::-1], right[::-1]), min(len(left), len(right)) - head)
    if max(len(left), len(right)) > MAX_LINE:
        return _long(left, head, tail, "del"), _long(right, head, tail, "ins")
    a, b = _WORDS.findall(left), _WORDS.findall(right)
    budget[0] -= len(a) * len(b)
    if budget[0] < 0:
        return [_piece("", left)], [_piece("", right)]
    before, after = [], []
    for op, a1, a2, b1, b2 in _joined(SequenceMatcher(None, a, b, autojunk=False).get_opcodes(), a):
        if a1 < a2:
            before.append(_piece("" if op == "equal" else "del", "".join(a[a1:a2])))
        if b1 < b2:
            after.append(_piece("" if op == "equal" else "ins", "".join(b[b1:b2])))
    return before, after


def _joined(opcodes: Sequence[Opcode], words: list[str]) -> Iterator[Opcode]:
    """A space that happens to stand between two changed words is part of one change."""
    held: Opcode | None = None
    for at, (op, a1, a2, b1, b2) in enumerate(opcodes):
        between = 0 < at < len(opcodes) - 1 and not "".join(words[a1:a2]).strip()
        if op == "equal" and not between:
            if held:
                yield held
                held = None
            yield op, a1, a2, b1, b2
        else:
            held = ("replace", held[1] if held else a1, a2, held[3] if held else b1, b2)
    if held:
        yield held


def _long(line: str, head: int, tail: int, op: str) -> list[Piece]:
    """Only the surroundings of the change in a line too long to print."""
    start, end = max(head - AROUND, 0), min(len(line) - tail + AROUND, len(line))
    pieces = [
        _piece("", ("… " if start else "") + line[start:head]),
        _piece(op, line[head : len(line) - tail]),
        _piece("", line[len(line) - tail : end] + (" …" if end < len(line) else "")),
    ]
    return [piece for piece in pieces if piece.segments]


def _piece(op: str, text: str) -> Piece:
    kept = head_of(text, MAX_LINE)
    if kept.truncated:
        text = f"{kept.text} … ({kept.omitted.count:,} bytes more)"
    return Piece(op, segments(text))

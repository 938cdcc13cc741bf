"""A text in Markdown as blocks for a template: headings, paragraphs, lists, code. Nothing becomes markup here.

Links stay text, pictures stay text, HTML stays text: what a model wrote may have come from anybody.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from banks.hidden import Segment, segments
from banks.secrets.masking import masked

MOST_BLOCKS = 1_000
MOST_CHARACTERS = 200_000

_FENCE = re.compile(r"(`{3,}|~{3,})")
_HEADING = re.compile(r"(#{1,6})\s+(.*)")
_BULLET = re.compile(r"\s*[-*+]\s+(.*)")
_NUMBER = re.compile(r"\s*\d{1,9}[.)]\s+(.*)")
_INLINE = re.compile(r"`([^`\n]+)`|\*\*([^*\n]+)\*\*|__([^_\n]+)__")

Kind = Literal["heading", "paragraph", "bullets", "numbers", "code"]


@dataclass(frozen=True)
class Span:
    """A piece of a line. `mark`: "code", "strong" or "" for plain text."""

    mark: str
    segments: list[Segment]


@dataclass
class Block:
    """`lines`: of a list its items, else one line for each line of the text. `level`: of a heading, from 1."""

    kind: Kind
    lines: list[list[Span]] = field(default_factory=list)
    level: int = 0


def blocks_of(text: str) -> list[Block]:
    """At most so many; the rest is one paragraph at the end that says so. Secrets are masked."""
    blocks: list[Block] = []
    for block in _blocks(masked(text)[:MOST_CHARACTERS]):
        if len(blocks) == MOST_BLOCKS:
            blocks.append(Block("paragraph", [[Span("", segments("… The rest is in the text as it is."))]]))
            return blocks
        blocks.append(block)
    if len(text) > MOST_CHARACTERS:
        blocks.append(Block("paragraph", [[Span("", segments("… The rest is in the text as it is."))]]))
    return blocks


def _blocks(text: str) -> Iterator[Block]:
    current: Block | None = None
    fence = ""
    for line in re.split(r"\r\n|\r|\n", text):
        if fence:
            if line.strip().startswith(fence):
                fence = ""
            elif current is not None:
                current.lines.append([Span("", segments(line))])
            continue
        opened = _FENCE.match(line.strip())
        kind, words, level = _kind_of(line)
        if current is not None and (opened or not line.strip() or kind != current.kind or kind == "heading"):
            yield current
            current = None
        if opened:
            fence, current = opened[1], Block("code")
        elif line.strip():
            current = current or Block(kind, level=level)
            current.lines.append(_spans(words))
    if current is not None:
        yield current


def _kind_of(line: str) -> tuple[Kind, str, int]:
    if found := _HEADING.fullmatch(line):
        return "heading", found[2].rstrip().rstrip("#").rstrip(), len(found[1])
    if found := _BULLET.fullmatch(line):
        return "bullets", found[1], 0
    if found := _NUMBER.fullmatch(line):
        return "numbers", found[1], 0
    return "paragraph", line, 0


def _spans(line: str) -> list[Span]:
    spans, at = [], 0
    for found in _INLINE.finditer(line):
        if found.start() > at:
            spans.append(Span("", segments(line[at : found.start()])))
        code, *strong = found.groups()
        spans.append(Span("code" if code else "strong", segments(code or next(each for each in strong if each))))
        at = found.end()
    if at < len(line) or not spans:
        spans.append(Span("", segments(line[at:])))
    return spans

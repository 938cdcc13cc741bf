"""A text on paper: paragraphs with hidden characters visible, and of a long text only as much as a page can carry."""

import re
from dataclasses import dataclass

from banks.hidden import Finding, Segment, findings, segments
from banks.secrets.masking import masked
from memadmin.retention import NOTHING, Omitted, ends_of

# Bytes. Up to their sum a text is shown whole. Longer ones begin and end on the page, the middle comes on demand.
HEAD, TAIL = 12_000, 4_000
# "Show all" comes in parts of this many characters; nearly every memory has one.
PART = 200_000
# Texts of nothing but line breaks must not become hundreds of thousands of elements.
MAX_PARAGRAPHS = 1_500

_GAP = re.compile(r"(?:\r\n|\r|\n)[ \t]*(?:(?:\r\n|\r|\n)[ \t]*)+")
_LINES = re.compile(r"\r\n|\r|\n")


@dataclass(frozen=True)
class Paragraph:
    segments: list[Segment]


@dataclass(frozen=True)
class Paper:
    """What a page shows of a text. What was `omitted` (bytes) lies between `head` and `tail`."""

    head: list[Paragraph]
    tail: list[Paragraph]
    omitted: Omitted
    length: int  # code points
    lines: int
    findings: list[Finding]  # of the whole text, shown or not
    part: int = 0  # 0 = the short form, else from 1
    parts: int = 1

    @property
    def hidden_words(self) -> str:
        return " ".join(f.note for f in self.findings if f.note)[:200]

    @property
    def dangers(self) -> list[Finding]:
        return [f for f in self.findings if f.tone == "danger"]


def paper(text: str, part: int = 0, *, revealed: bool = False) -> Paper:
    """The short form of a text, or its `part`-th part (from 1; beyond the last one the last is meant).

    Its secrets are masked unless they are `revealed`.
    """
    if not revealed:
        text = masked(text)
    parts = max(-(-len(text) // PART), 1)
    lines = len(_LINES.findall(text)) + 1
    if part:
        part = min(part, parts)
        head = paragraphs(text[(part - 1) * PART : part * PART])
        return Paper(head, [], NOTHING, len(text), lines, findings(text), part, parts)
    kept = ends_of(text, HEAD, TAIL)
    tail = paragraphs(kept.tail) if kept.truncated else []
    return Paper(paragraphs(kept.head), tail, kept.omitted, len(text), lines, findings(text), parts=parts)


def is_clipped(size: int) -> bool:
    """Whether a text of this many bytes has a middle that is not shown at first."""
    return size > HEAD + TAIL


def paragraphs(text: str) -> list[Paragraph]:
    """Split at blank lines; line breaks inside a paragraph stay. Blank lines themselves are the space between."""
    found = [piece.strip("\r\n") for piece in _GAP.split(text)]
    found = [piece for piece in found if piece.strip()] or [text.strip("\r\n")]
    if len(found) > MAX_PARAGRAPHS:
        found = [*found[: MAX_PARAGRAPHS - 1], "\n\n".join(found[MAX_PARAGRAPHS - 1 :])]
    return [Paragraph(segments(piece)) for piece in found if piece]

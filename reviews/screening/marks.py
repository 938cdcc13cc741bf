"""What a rule says about a place of a text."""

from dataclasses import dataclass
from typing import Literal

Tone = Literal["danger", "attention", "none"]


@dataclass(frozen=True)
class Found:
    """A kind of risk at [start, end) in code points; (0, 0) is about the text as a whole. `why`: one plain sentence."""

    kind: str
    start: int
    end: int
    why: str
    tone: Tone = "attention"

"""What a text shows at first sight: for lists, and for who must look closer."""

from collections.abc import Mapping, Sequence
from typing import Any

from banks import hidden

PREVIEW = 300
SEVERITY = {"none": 1, "attention": 2, "danger": 3}


def first_sight(text: str) -> dict[str, Any]:
    """`preview`, `marks`, `danger` and `risk` of an entry with this text."""
    marks = [{"what": f.what, "tone": f.tone, "count": f.count, "note": f.note} for f in hidden.findings(text)]
    return {
        "preview": " ".join(text[: 4 * PREVIEW].replace("\x00", " ").split())[:PREVIEW],  # PostgreSQL has no NUL
        "marks": marks,
        "danger": any(mark["tone"] == "danger" for mark in marks),
        "risk": risk_of(marks),
    }


def risk_of(marks: Sequence[Mapping[str, Any]]) -> int:
    """The worst tone counts first, then how many sorts of marks there are; 0 = none."""
    worst = max((SEVERITY.get(str(mark["tone"]), 1) for mark in marks), default=0)
    return 10 * worst + min(len({mark["what"] for mark in marks}), 9)

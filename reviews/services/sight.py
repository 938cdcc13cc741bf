"""What a text shows at first sight: for lists, and for who must look closer."""

from collections.abc import Mapping, Sequence
from typing import Any

from banks.secrets.masking import masked
from reviews.screening import hidden
from reviews.screening.marks import Found
from reviews.screening.screen import summary

PREVIEW = 300
SEVERITY = {"none": 1, "attention": 2, "danger": 3}


def first_sight(text: str, found: Sequence[Found] | None = None) -> dict[str, Any]:
    """`preview`, `marks`, `danger` and `risk` of an entry with this text.

    `found`: what the rules say, where a worker has asked them; else hidden characters alone, and the rest comes later.
    """
    found = list(hidden.find(text)) if found is None else found
    begins = " ".join(text[: 4 * PREVIEW].replace("\x00", " ").split())[: 2 * PREVIEW]  # PostgreSQL has no NUL
    return {"preview": masked(begins)[:PREVIEW], "screened": 0, **weighed(summary(found, text))}


def weighed(marks: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """`marks`, and what they come to."""
    return {
        "marks": list(marks),
        "danger": any(mark["tone"] == "danger" for mark in marks),
        "risk": risk_of(marks),
    }


def risk_of(marks: Sequence[Mapping[str, Any]]) -> int:
    """The worst tone counts first, then how many sorts of marks there are; 0 = none."""
    worst = max((SEVERITY.get(str(mark["tone"]), 1) for mark in marks), default=0)
    return 10 * worst + min(len({mark["what"] for mark in marks}), 9)

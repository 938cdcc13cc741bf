"""What a text shows at first sight: for lists, and for who must look closer."""

from typing import Any

from banks import hidden

PREVIEW = 300


def first_sight(text: str) -> dict[str, Any]:
    """`preview`, `marks` and `danger` of an entry with this text."""
    marks = [{"what": f.what, "tone": f.tone, "count": f.count, "note": f.note} for f in hidden.findings(text)]
    return {
        "preview": " ".join(text[: 4 * PREVIEW].replace("\x00", " ").split())[:PREVIEW],  # PostgreSQL has no NUL
        "marks": marks,
        "danger": any(mark["tone"] == "danger" for mark in marks),
    }

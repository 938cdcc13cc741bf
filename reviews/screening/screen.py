"""Everything the rules say about one text. Pure.

Rules that changed get a new VERSION, and a migration that sets `ReviewEntry.screened` to 0 has all that waits screened
again; `memadmin rescreen` does the same by hand.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from banks import hidden as characters
from banks import secrets
from reviews.screening import blobs, hidden, instructions, personal
from reviews.screening.marks import Found

VERSION = 1
MOST = 60  # marks that are kept of one text
READ = 300_000  # characters; beyond, only what is quick is looked for


@lru_cache(maxsize=16)
def screen(text: str) -> tuple[Found, ...]:
    """In the order of their weight and place. Of two marks of one place, the secret is the one that counts."""
    opened = [Found("secret", s.start, s.end, f"It looks like a secret: {s.what}.", "danger") for s in _secrets(text)]
    found = [*opened, *hidden.find(text), *blobs.size(text), *_apart(blobs.find(text), opened)]
    if len(text) <= READ:
        found += [*_apart(personal.find(text), opened), *instructions.find(text)]
    weight = {"danger": 0, "attention": 1, "none": 2}
    return tuple(sorted(found, key=lambda one: (weight[one.tone], one.start, one.kind))[:MOST])


def summary(found: Sequence[Found], text: str) -> list[dict[str, Any]]:
    """[{what, tone, count, note}] for lists: hidden characters by their sort, everything else by its kind."""
    kinds = {one.kind: one.tone for one in found if one.kind != "hidden"}
    counts = {kind: sum(one.kind == kind for one in found) for kind in kinds}
    shown = [{"what": kind, "tone": kinds[kind], "count": counts[kind], "note": ""} for kind in kinds]
    unseen = any(one.kind == "hidden" for one in found)
    sorts = [each for each in characters.findings(text) if unseen or each.what == "control"]
    sorts = [each for each in sorts if each.what != "control" or "blob" not in kinds]
    shown += [{"what": each.what, "tone": each.tone, "count": each.count, "note": each.note} for each in sorts]
    if unseen and not sorts:
        shown.append({"what": "lookalike", "tone": "attention", "count": 1, "note": ""})
    return sorted(shown, key=lambda mark: (mark["tone"] != "danger", str(mark["what"])))


def _secrets(text: str) -> Sequence[secrets.Secret]:
    return secrets.find(text)


def _apart(found: Iterable[Found], from_these: Sequence[Found]) -> list[Found]:
    """A key is no blob, and its digits are no phone number."""
    return [one for one in found if not any(one.start < other.end and other.start < one.end for other in from_these)]

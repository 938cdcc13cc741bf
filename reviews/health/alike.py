"""Facts that say nearly the same. Pure: texts in, groups of their places out."""

import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from rapidfuzz import fuzz, process

from reviews.curation.substance import same_in_substance

CLOSE = 90.0  # of 100
# Two texts of which one is longer by more than this cannot be that close.
LONGER = (200.0 - CLOSE) / CLOSE
CLOSEST = 20  # that one text is looked at with
SECONDS = 30.0


@dataclass(frozen=True)
class Alike:
    """`groups`: places of texts, each in at most one. `compared`: fewer than there are when the time was over."""

    groups: list[list[int]] = field(default_factory=list)
    compared: int = 0

    @property
    def surplus(self) -> int:
        """How many could go with nothing lost: all but one of each group."""
        return sum(len(group) - 1 for group in self.groups)


def alike(texts: Sequence[str], *, seconds: float = SECONDS) -> Alike:
    """Close in their words, and the same in numbers, names and negations: "30 s" and "60 s" are two statements."""
    until = time.monotonic() + seconds
    order = sorted(range(len(texts)), key=lambda place: len(texts[place]))
    ordered = [texts[place] for place in order]
    parents = list(range(len(texts)))
    end = 0
    for at, text in enumerate(ordered):
        if time.monotonic() > until:
            return Alike(_groups(parents, order), at)
        end = max(end, at)
        while end < len(ordered) and len(ordered[end]) <= len(text) * LONGER:
            end += 1
        near = process.extract(text, ordered[at + 1 : end], scorer=fuzz.ratio, score_cutoff=CLOSE, limit=CLOSEST)
        for other, _, place in near:
            one, two = _root(parents, at), _root(parents, at + 1 + place)
            if one != two and same_in_substance(text, other):
                parents[max(one, two)] = min(one, two)
    return Alike(_groups(parents, order), len(texts))


def _root(parents: list[int], place: int) -> int:
    while parents[place] != place:
        parents[place] = parents[parents[place]]
        place = parents[place]
    return place


def _groups(parents: list[int], order: Sequence[int]) -> list[list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for place in range(len(parents)):
        found[_root(parents, place)].append(order[place])
    return sorted((sorted(group) for group in found.values() if len(group) > 1), key=lambda group: (-len(group), group))

"""Which fact of a new extraction is the one that somebody decided about. Pure: texts in, pairs out.

The same text, counted by occurrence, is the same fact. A close text is only ever a question, and not even that when a
number, a name or a negation differs (`substance`).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Generic, TypeVar

from rapidfuzz import fuzz

from reviews.curation.substance import same_in_substance

Key = TypeVar("Key")

CLOSE = 88.0  # of 100
# Beyond this many pairs nobody could be asked about the result anyway.
MOST_PAIRS = 40_000


@dataclass(frozen=True)
class Numbered:
    """A fact's text and which of the facts with that text it is, from 0."""

    fact_id: str
    text: str
    occurrence: int


@dataclass(frozen=True)
class Match(Generic[Key]):
    key: Key
    fact: Numbered
    exact: bool
    score: float


def numbered(
    facts: Iterable[tuple[str, str]], given: Mapping[str, tuple[str, int]] = MappingProxyType({})
) -> list[Numbered]:
    """(id, text) in the order of the document → the same with occurrences.

    `given`: {id: (text, occurrence)} of facts that have theirs already; the others get those that are free.
    """
    taken = set(given.values())
    following: Counter[str] = Counter()
    found = []
    for fact_id, text in facts:
        if fact_id in given:
            found.append(Numbered(fact_id, *given[fact_id]))
            continue
        while (text, following[text]) in taken:
            following[text] += 1
        found.append(Numbered(fact_id, text, following[text]))
        following[text] += 1
    return found


def match(wanted: Sequence[tuple[Key, str, int]], facts: Sequence[Numbered]) -> list[Match[Key]]:
    """Finds each wanted (key, text as extracted, occurrence) among the facts; each fact is given once.

    Exact ones first. When fewer facts have the text than before, the last occurrences find none.
    """
    by_text: dict[str, dict[int, Numbered]] = defaultdict(dict)
    for fact in facts:
        by_text[fact.text][fact.occurrence] = fact
    found, taken, left = [], set(), []
    for key, text, occurrence in wanted:
        same = by_text.get(text, {}).get(occurrence)
        if same is None:
            left.append((key, text))
            continue
        found.append(Match(key, same, exact=True, score=100.0))
        taken.add(same.fact_id)
    free = [fact for fact in facts if fact.fact_id not in taken]
    return found + _close(left, free)


def _close(wanted: Sequence[tuple[Key, str]], facts: Sequence[Numbered]) -> list[Match[Key]]:
    if len(wanted) * len(facts) > MOST_PAIRS:
        return []
    pairs = [
        (score, key, fact)
        for key, text in wanted
        for fact in facts
        if (score := fuzz.ratio(text, fact.text, score_cutoff=CLOSE)) and same_in_substance(text, fact.text)
    ]
    found: list[Match[Key]] = []
    keys: list[Key] = []
    taken: set[str] = set()
    for score, key, fact in sorted(pairs, key=lambda pair: -pair[0]):
        if key not in keys and fact.fact_id not in taken:
            found.append(Match(key, fact, exact=False, score=score))
            keys.append(key)
            taken.add(fact.fact_id)
    return found

"""Where in a text the words stand by which a search has found it (memadmin.terms), and the part around them."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from memadmin.terms import LONGEST, Phrase, fold

BEFORE, LENGTH = 60, 260  # characters of a part: what is kept before its first word, and all of it
NEAR = 24  # to the next space, so that no word is cut
_LANGUAGES = re.compile(r"(?<![^\W_])[a-z](\+\+|#)(?![^\W\d_])", re.IGNORECASE)  # as in memadmin.terms
_SPACE = re.compile(r"\s")


@dataclass(frozen=True)
class Place:
    """[start, end) in the text; `what`: the number of the phrase."""

    start: int
    end: int
    what: int


@dataclass(frozen=True)
class Part:
    """[start, end) of a text, with the places that are in it. `whats`: how many different phrases those are."""

    start: int
    end: int
    places: list[Place]

    @property
    def whats(self) -> int:
        return len({place.what for place in self.places})


class _Folded(dict[str, str]):
    def __missing__(self, character: str) -> str:
        value = fold(character)
        if ord(character) < 0x10000:  # hostile text must not fill the memory
            self[character] = value
        return value


_FOLDED = _Folded()


def places_of(text: str, phrases: Sequence[Phrase]) -> list[Place]:
    """Where the phrases stand, in the order of the text, none inside another."""
    if not phrases:
        return []
    pieces = [_FOLDED[character] for character in text]
    for found in _LANGUAGES.finditer(text):
        at = found.start(1)
        pieces[at] = fold(f"c{found[1]}")[1:]
        pieces[at + 1 : found.end()] = [""] * (found.end() - at - 1)
    ends = list(accumulate(map(len, pieces)))
    places = []
    for match in _pattern_of(phrases).finditer("".join(pieces)):
        start, end = bisect_right(ends, match.start()), bisect_right(ends, match.end() - 1) + 1
        while end < len(pieces) and not pieces[end]:  # accents, and what is invisible
            end += 1
        places.append(Place(start, end, match.lastindex or 0))
    return places


def literal_places(text: str, words: str) -> list[Place]:
    """Where exactly this stands, whatever its case: for servers that look for it so."""
    found = re.finditer(re.escape(words), text, re.IGNORECASE) if words else []
    return [Place(match.start(), match.end(), 1) for match in found]


def part_of(text: str, places: Sequence[Place]) -> Part:
    """The part of a text with most of the phrases; its beginning when there is none."""
    first = _densest(places)
    start = max((first.start if first else 0) - BEFORE, 0)
    if start and first and (space := _SPACE.search(text, start, min(start + NEAR, first.start))):
        start = space.end()
    end = min(start + LENGTH, len(text))
    if end < len(text):
        spaces = list(_SPACE.finditer(text, end - NEAR, end))
        end = spaces[-1].start() if spaces else end
    inside = [place for place in places if start <= place.start < end]
    return Part(start, end, [Place(each.start, min(each.end, end), each.what) for each in inside])


def _pattern_of(phrases: Sequence[Phrase]) -> re.Pattern[str]:
    longest_first = sorted(phrases, key=lambda phrase: -len(phrase.words))
    return re.compile(rf"(?<!\S)(?:{'|'.join(f'({_said(phrase)})' for phrase in longest_first)})")


def _said(phrase: Phrase) -> str:
    # Of a long word its beginning was looked for.
    words = [re.escape(word) + (r"\S*" if len(word) == LONGEST else "") for word in phrase.words]
    return r"\s+".join(words) + (r"\S*" if phrase.open else r"(?!\S)")


def _densest(places: Sequence[Place]) -> Place | None:
    """The first place of the part that has most of the phrases."""
    best, most, inside, first = None, 0, Counter[int](), 0
    for place in places:
        inside[place.what] += 1
        while place.end - places[first].start > LENGTH - BEFORE - NEAR and places[first] is not place:
            inside[places[first].what] -= 1
            inside += Counter()  # forgets those of which none is left
            first += 1
        if len(inside) > most:
            best, most = places[first], len(inside)
    return best

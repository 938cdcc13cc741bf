"""Texts that state nearly the same as another one that waits. It asks a person to compare them, and no more than that."""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from rapidfuzz import fuzz, process

from reviews.curation.substance import nothing_essential_differs

CLOSE = 92.0  # of 100
CLOSEST = 5
LONGEST = 4_000  # characters that are compared
_WORD = re.compile(r"[^\W_][\w'-]*")
_FILLING = frozenset(
    [
        "a",
        "an",
        "the",
        "der",
        "die",
        "das",
        "ein",
        "eine",
        "le",
        "la",
        "les",
        "un",
        "une",
        "el",
        "los",
        "las",
        "il",
        "lo",
        "really",
        "also",
        "just",
        "then",
        "now",
        "always",
        "simply",
        "actually",
        "very",
        "so",
        "that",
        "only",
        "auch",
        "nur",
        "dann",
        "aussi",
    ]
)
# Words of a kind of which one is never the other: where, when, which way, how big, what for.
_APART = (
    "production prod staging stage test testing dev development local preprod sandbox demo live qa produktion abnahme",
    "before after during until since vor nach avant après antes después до после",
    "left right up down top bottom north south east west in out incoming outgoing inbound outbound from to upper lower",
    "read write reads writes reading writing get set push pull upload download import export send receive sent received",
    "min max minimum maximum least most first last more less higher lower bigger smaller fewer longer shorter",
    "start stop begin end open close opened closed open closed create delete add remove on off allow deny",
    "red green blue black white yellow primary secondary master replica main client server frontend backend",
    "seconds minutes hours days weeks months years second minute hour day week month year ms sec min daily weekly",
    "morning noon evening night today tomorrow yesterday weekday weekend",
    "users user admins admin customers merchants merchant customer buyer seller sender receiver",
    "debit credit gross net public private internal external old new",
)
_GROUPS = [frozenset(words.split()) for words in _APART]


def close_to(text: str, others: Sequence[str]) -> list[tuple[int, float]]:
    """(place in `others`, how alike of 100) of those that state nearly the same, the closest first."""
    text = text[:LONGEST]
    plain = _plain(text)
    near = process.extract(
        plain, [_plain(other[:LONGEST]) for other in others], scorer=fuzz.ratio, score_cutoff=CLOSE, limit=CLOSEST
    )
    return [(place, score) for _, score, place in near if _same(text, others[place][:LONGEST])]


def _same(one: str, other: str) -> bool:
    left, right = _bag(one), _bag(other)
    gone, new = left - right, right - left
    if not gone and not new:
        return nothing_essential_differs(one.lower(), other.lower()) or _plain(one) == _plain(other)
    if any(gone.keys() & group and new.keys() & group for group in _GROUPS):
        return False
    if sum(gone.values()) > 1 + sum(left.values()) // 12 or sum(new.values()) > 1 + sum(right.values()) // 12:
        return False
    return nothing_essential_differs(one, other)


def _bag(text: str) -> Counter[str]:
    return Counter(word for word in _WORD.findall(_plain(text)) if word not in _FILLING)


@lru_cache(maxsize=4096)
def _plain(text: str) -> str:
    """Without case, accents, and more than one space."""
    text = unicodedata.normalize("NFKD", text.casefold())
    for spelled, letter in (("ae", "a"), ("oe", "o"), ("ue", "u")):
        text = text.replace(spelled, letter)
    return " ".join("".join(each for each in text if not unicodedata.combining(each)).split())

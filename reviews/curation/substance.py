"""Whether two sentences state the same. Pure, and strict: where it cannot tell, they do not.

A number, a unit, a name or a negation that differs makes another statement of what looks like a typing error:
"the time-out is 30 s" is neither "60 s" nor "30 ms", and "enabled" is not "disabled".
"""

import re
import unicodedata
from collections import Counter
from itertools import product

from rapidfuzz import fuzz

ALIKE = 60.0  # of 100: "migrate" and "migrated"

_NUMBER = re.compile(r"(?:(?<![\w.])[-\u2212+]\s?)?\d+(?:[.,:/\u2013-]\d+)*")
# What stands with a number and changes it: a unit, a percent sign, a currency.
_UNIT = re.compile(r"\d\s*([^\W\d_]+|[%\u2030\u00b0'\"])")
_WORD = re.compile(r"[^\W_][\w'\u2019]*", re.UNICODE)
# Paths, identifiers, addresses, versions: names, whatever their case. A full stop that ends a sentence is no part.
_IDENTIFIER = re.compile(r"[\w$@#~./\\:-]*\w[./\\:_@#$~-]\w[\w$@#~./\\:-]*|[\w]*[a-z][A-Z]\w*")
_NEGATING = """
no not never none nobody nothing neither nor without cannot can't don't doesn't didn't isn't aren't wasn't weren't won't
wouldn't shouldn't couldn't hasn't haven't hadn't kein keine keinen keiner keinem keines nicht nie niemals nichts ohne
weder ne pas jamais rien sans aucun aucune sin nunca nada ningún ninguna non mai senza niente não nem sem ei ikke
inte aldrig niet geen nooit не нет ни никогда ничего без нельзя
off false unless except instead longer only hardly rarely nur außer falsch aus только кроме
"""
_COUNTING = """
zero one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty hundred thousand
million once twice half double first second third hourly daily weekly monthly yearly all every some any most few many
null ein eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf zwanzig hundert tausend einmal zweimal täglich
wöchentlich un deux trois quatre cinq six sept huit neuf dix cent mille uno dos tres cuatro cinco seis siete ocho nueve
diez один одна два две три четыре пять шесть семь восемь девять десять сто тысяча дважды
monday tuesday wednesday thursday friday saturday sunday january february march april may june july august september
october november december
"""
_NEGATIONS = frozenset(_NEGATING.split())
_COUNTS = frozenset(_COUNTING.split())
_OPENING = """
this that these those it its there here when while if in on at for from by with and or but to as he she we they you our
their his her my your es
"""
_SMALL = """
a an the der die das dem den ein eine einen le la les un une el los las il lo
"""
_ARTICLES = frozenset(_SMALL.split())
# Words that begin a sentence with a capital and name nobody.
_OPENINGS = frozenset(_OPENING.split()) | _ARTICLES
# What turns a word into its opposite when it is put before it, or exchanged.
_TURNING = ("un", "in", "im", "ir", "il", "dis", "non", "de", "en", "ex", "mis", "out", "up", "down", "over", "under")


def same_in_substance(one: str, other: str) -> bool:
    """Neither a number nor a name nor a negation differs; anything else may."""
    one, other = (unicodedata.normalize("NFKC", text).replace("\u2019", "'") for text in (one, other))
    return _figures(one) == _figures(other) and _same_words(_words(one), _words(other))


def nothing_essential_differs(one: str, other: str) -> bool:
    """The same, except that any word that is no number, name or negation may be another one: a question, no answer."""
    one, other = (unicodedata.normalize("NFKC", text).replace("\u2019", "'") for text in (one, other))
    left, right = _words(one), _words(other)
    if _figures(one) != _figures(other) or _denied(left) != _denied(right) or _counted(left) != _counted(right):
        return False
    low_left, low_right = Counter(map(str.lower, left)), Counter(map(str.lower, right))
    if _names(left[1:]) - low_right or _names(right[1:]) - low_left:
        return False
    return not any(_opposite(*pair) for pair in product(low_left - low_right, low_right - low_left))


def _denied(words: list[str]) -> int:
    return sum(word.lower() in _NEGATIONS or word.lower().endswith("n't") for word in words)


def _counted(words: list[str]) -> Counter[str]:
    return Counter(word.lower() for word in words if word.lower() in _COUNTS)


def _figures(text: str) -> tuple[Counter[str], ...]:
    numbers = Counter(number.replace("\u2212", "-").replace(" ", "") for number in _NUMBER.findall(text))
    units = Counter(unit.lower() for unit in _UNIT.findall(text))
    signs = Counter(letter for letter in text if unicodedata.category(letter) in ("Sc", "No", "Nl", "Sm"))
    identifiers = Counter(found.rstrip(".:-") for found in _IDENTIFIER.findall(text))
    return numbers, units, signs, identifiers


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


def _same_words(one: list[str], other: list[str]) -> bool:
    if _must_agree(one) != _must_agree(other):
        return False
    low_one, low_other = Counter(map(str.lower, one)), Counter(map(str.lower, other))
    # A name may be lower-case in one of them, and the first word of a sentence has its capital for another reason.
    if _names(one) - low_other or _names(other) - low_one:
        return False
    gone, new = (low_one - low_other).keys() - _ARTICLES, (low_other - low_one).keys() - _ARTICLES
    if any(_opposite(left, right) for left, right in product(gone, new)):
        return False
    # "redis" for "valkey": names of tools are written small. What replaces a word has to be a form of it.
    few, many = sorted((gone, new), key=len)
    return all(any(fuzz.ratio(word, form) >= ALIKE for form in many) for word in few)


def _must_agree(words: list[str]) -> tuple[Counter[str], int]:
    """Words that count; those of scripts that write names like any other word; and how often something is denied."""
    low = [word.lower() for word in words]
    kept = Counter(word for word in low if word in _COUNTS or _without_case(word))
    return kept, sum(word in _NEGATIONS or word.endswith("n't") for word in low)


def _without_case(word: str) -> bool:
    return any(letter.isalpha() and letter.lower() == letter.upper() for letter in word)


def _names(words: list[str]) -> Counter[str]:
    found = Counter(word.lower() for word in words[1:] if word[0].isupper())
    if words and words[0][0].isupper() and words[0].lower() not in _OPENINGS:
        found[words[0].lower()] += 1
    return found


def _opposite(one: str, other: str) -> bool:
    """ "enabled" and "disabled", "supported" and "unsupported", "include" and "exclude"."""
    stems = [{word, *(word.removeprefix(turn) for turn in _TURNING)} for word in (one, other)]
    return any(len(stem) > 2 for stem in stems[0] & stems[1])

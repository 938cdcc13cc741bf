"""The words of a text, for search. They are made here and not by the database, so that all databases find the same."""

import re
import unicodedata
from dataclasses import dataclass

# Behind these bounds nothing is found: PostgreSQL keeps at most 1 MB and 16,383 positions of a text.
CHARACTERS = 100_000
WORDS = 16_000
LONGEST = 64  # of a longer word its beginning counts
SHORTEST_PREFIX = 2  # one letter is the beginning of nearly everything

_ACCENTS = re.compile(  # of Latin, Greek, Cyrillic, Hebrew and Arabic; й is a letter of its own
    "(?<!и)\u0306|[\u0300-\u0305\u0307-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u064b-\u065f\u0670\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f]"
)
# Scripts without spaces between words: every character is a word, and what is typed is a phrase of them.
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)
_LANGUAGES = re.compile(r"(?<![^\W_])([a-z])(\+\+|#)(?![^\W\d_])")  # C++, C#, F# are not C and F
_SPELT = {"++": "plusplus ", "#": "sharp "}
_CHUNKS = re.compile(r'"([^"]*)("?)|([^\s"]+)')
_QUOTES = str.maketrans(dict.fromkeys("“”„‟«»\uff02", '"'))


@dataclass(frozen=True)
class Phrase:
    """Words that stand together in this order; `open`: the last one may be only the beginning of a word."""

    words: list[str]
    open: bool


class _Kept(dict[int, str]):
    """What a character becomes: itself in a word, a word by itself, a space, or nothing (the invisible ones)."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        category = unicodedata.category(character)
        if category[0] in "LNM":
            value = f" {character} " if _UNSPACED.match(character) else character
        else:
            value = "" if category == "Cf" else " "
        if code < 0x10000:  # hostile text must not fill the memory
            self[code] = value
        return value


_KEPT = _Kept()


def fold(text: str) -> str:
    """The words of a text with spaces between them. Letters, digits and vowel signs alone are left in them."""
    if text.isascii():
        text = text.lower()
    else:
        text = unicodedata.normalize("NFKD", text).casefold()
        text = unicodedata.normalize("NFC", _ACCENTS.sub("", text))
    if "#" in text or "++" in text:
        text = _LANGUAGES.sub(lambda found: found[1] + _SPELT[found[2]], text)
    return text.translate(_KEPT)


def words_of(text: str) -> list[str]:
    """The words without case, accents and punctuation."""
    return [word[:LONGEST] for word in fold(text[:CHARACTERS])[:CHARACTERS].split()[:WORDS]]


def phrases_of(query: str) -> list[Phrase]:
    """What a person typed. Quotes make a phrase, and so does punctuation between words; the last word is open."""
    phrases = []
    for chunk in _CHUNKS.finditer(query.translate(_QUOTES)):
        quoted, closed, bare = chunk.groups()
        found = words_of(quoted if bare is None else bare)
        if found:
            last = chunk.end() == len(query) and not closed
            phrases.append(Phrase(found, open=last and len(found[-1]) >= SHORTEST_PREFIX))
    return phrases


def is_word(character: str) -> bool:
    """Whether it is one of those that make a word alone, in scripts without spaces."""
    return bool(_UNSPACED.fullmatch(character))

"""Characters that a reader cannot see or that look like others. What counts is said in banks.hidden."""

import re
import unicodedata
from collections.abc import Iterator

from banks.hidden import Finding, Segment, segments
from reviews.screening.marks import Found, Tone

# Addresses, and the words of a command: a look-alike letter there leads somewhere else.
_ADDRESS = re.compile(
    r"(?:https?://|www\.|git@|ssh://)[^\s<>\"'`)]{1,2000}|(?<![\w.-])[\w-]{1,63}(?:\.[\w-]{1,63}){0,8}\.[^\W\d_]{2,10}(?=[/:\s,;.)]|$)"
)
_COMMAND = re.compile(
    r"\b(?:npm|pnpm|yarn|npx|pip3?|pipx|uv|poetry|cargo|gem|go|brew|apt(?:-get)?|dnf|apk|docker|podman|helm|kubectl|git|conda"
    r"|curl|wget|bash|sh|sudo|make|systemctl|ssh|scp)[ \t]+[^\n`]{2,200}"
)
_PART = re.compile(r"[^\W_]+")
_LOOKS_LATIN = ("CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "COPTIC", "LISU", "DESERET")


def find(text: str) -> Iterator[Found]:
    for start, end, piece in _chips(text):
        what = piece.what
        if what != "control":
            yield Found("hidden", start, end, _why(Finding(what, piece.tone, piece.count, "")), _tone(piece))
    yield from _mixed(text)


def _chips(text: str) -> Iterator[tuple[int, int, Segment]]:
    at = 0
    for piece in segments(text):
        length = piece.count if piece.tone else len(piece.text)
        if piece.tone:
            yield at, at + length, piece
        at += length


def _tone(piece: Segment) -> Tone:
    return "danger" if piece.tone == "danger" else "attention"


def _why(finding: Finding) -> str:
    return finding.sentence


def _mixed(text: str) -> Iterator[Found]:
    if text.isascii():
        return
    seen = set()
    for pattern in (_ADDRESS, _COMMAND):
        for match in pattern.finditer(text):
            for part in _PART.finditer(match.group()):
                start, end = match.start() + part.start(), match.start() + part.end()
                if (start, end) not in seen and _scripts(part.group()):
                    seen.add((start, end))
                    yield Found("hidden", start, end, _letters(part.group()), "attention")


def _scripts(word: str) -> bool:
    scripts = {_script(letter) for letter in word if letter.isalpha()}
    return "LATIN" in scripts and any(script in _LOOKS_LATIN for script in scripts)


def _script(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]


def _letters(word: str) -> str:
    foreign = sorted({letter for letter in word if letter.isalpha() and _script(letter) != "LATIN"})
    names = ", ".join(f"U+{ord(letter):04X} {unicodedata.name(letter, '')}" for letter in foreign[:3])
    return f"A word mixes letters of several scripts that look alike: {names}."[:300]

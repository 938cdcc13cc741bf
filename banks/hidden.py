"""Characters that a reader cannot see, made visible. Text is never changed: only how it is shown.

Two tiers. *danger*: text hidden in the Unicode Tags block or in variation selectors, and controls that reorder what
is read. *attention*: characters without a width and control characters. What writing needs is left alone: joiners and
selectors inside emoji and in the scripts that use them, flags spelled with tags, direction marks in right-to-left text.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

_SUSPECT = re.compile(
    "["
    "\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f"  # control characters; tab and line ends are shown as what they do
    "\u00ad\u034f\u061c\u115f\u1160\u180e"
    "\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u2069"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\U000e0000-\U000e007f\U000e0100-\U000e01ef"
    "]+"
)
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
_TAGS = re.compile("[\U000e0000-\U000e007f]+")
_SELECTOR = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
_SELECTORS = re.compile(f"[{_SELECTOR}]{{2,}}")
_MARKS = "\u200e\u200f\u061c"
_RIGHT_TO_LEFT = re.compile("[\u0590-\u05ff\u0620-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
# Scripts in which a joiner between letters is spelling: Arabic and Syriac, the Indic ones, Khmer, Mongolian.
_JOINING = re.compile("[\u0600-\u08ff\u0900-\u0dff\u0e80-\u109f\u1780-\u18af\ufb50-\ufdff\ufe70-\ufefc]")
_EMOJI = re.compile(
    "[#*0-9\xa9\xae\u200d\u203c\u2049\u20e3\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf"
    "\u2900-\u297f\u2b00-\u2bff\u3030\u303d\u3297\u3299\ufe0f\U0001f000-\U0001faff]"
)
_IDEOGRAPH = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_FLAG = re.compile("[\U000e0030-\U000e0039\U000e0061-\U000e007a]{2,6}\U000e007f")


@dataclass(frozen=True)
class Segment:
    """A piece of text as it is shown: plain when `tone` is empty, else a chip that stands for hidden characters."""

    text: str
    tone: str = ""
    title: str = ""
    what: str = ""  # "tags", "selectors", "bidi", "invisible", "control"
    count: int = 0  # hidden characters it stands for


@dataclass(frozen=True)
class Finding:
    """All hidden characters of one sort in a text; `note` is what they say, when they say something."""

    what: str
    tone: str
    count: int
    note: str = ""

    @property
    def sentence(self) -> str:
        """ "19 characters of the Tags block"."""
        plural = "" if self.count == 1 else "s"
        words = {
            "tags": f"character{plural} of the Tags block",
            "selectors": f"hidden selector{plural}",
            "bidi": f"character{plural} that reorder{'s' if self.count == 1 else ''} the text",
            "control": f"control character{plural}",
        }
        return f"{self.count:,} {words.get(self.what, f'invisible character{plural}')}"


def segments(text: str) -> list[Segment]:
    """The text in order, hidden characters as chips. Plain pieces joined with the hidden characters give the text."""
    return list(_merged(_scan(text)))


def has_hidden(text: str) -> bool:
    return any(segment.tone for segment in _scan(text))


def findings(text: str) -> list[Finding]:
    """What is hidden in a text, danger first."""
    chips = sorted((s for s in _scan(text) if s.tone), key=lambda s: (s.tone != "danger", s.what))
    found = []
    for (tone, what), group in groupby(chips, key=lambda s: (s.tone, s.what)):
        same = list(group)
        said = [s.text.partition(": ")[2].strip("“”") for s in same if what in {"tags", "selectors"}]
        found.append(Finding(what, tone, sum(s.count for s in same), " ".join(filter(None, said))[:200]))
    return found


def _scan(text: str) -> Iterator[Segment]:
    at = 0
    right_to_left: bool | None = None
    for match in _SUSPECT.finditer(text):
        if right_to_left is None:
            right_to_left = bool(_RIGHT_TO_LEFT.search(text))
        if match.start() > at:
            yield Segment(text[at : match.start()])
        yield from _run(text, match.start(), match.end(), right_to_left)
        at = match.end()
    if at < len(text):
        yield Segment(text[at:])


def _run(text: str, at: int, end: int, right_to_left: bool) -> Iterator[Segment]:
    """A run of suspects: what they stand for, one chip for each thing."""
    while at < end:
        if found := _TAGS.match(text, at, end):
            flag = _FLAG.fullmatch(found.group()) and text[at - 1 : at] == "\U0001f3f4"
            yield Segment(found.group()) if flag else _hidden_words("Tags", "tags", found.group(), _tags(found.group()))
            at = found.end()
        elif found := _SELECTORS.match(text, at, end):
            run = found.group()
            yield _hidden_words("Selectors", "selectors", run, _selectors(run))
            at = found.end()
        else:
            char = text[at]
            yield Segment(char) if _legitimate(text, at, right_to_left) else _chip(char)
            at += 1


def _legitimate(text: str, at: int, right_to_left: bool) -> bool:
    char, before, behind = text[at], text[at - 1 : at], text[at + 1 : at + 2]
    if char in _MARKS:
        return right_to_left
    if char == "\ufeff":
        return at == 0
    if char in "\u200c\u200d" and before and _JOINING.match(before):
        return True
    if char == "\u200d":
        return bool(before and behind and _EMOJI.match(before) and _EMOJI.match(behind))
    if "\ufe00" <= char <= "\ufe0f" or char >= "\U000e0100":
        return bool(before and (_EMOJI.match(before) or _IDEOGRAPH.match(before)))
    return False


def _chip(char: str) -> Segment:
    name = unicodedata.name(char, "control character")
    code = f"U+{ord(char):04X}"
    if _BIDI.match(char):
        return Segment(code, "danger", f"{name}: reorders what is read", "bidi", 1)
    return Segment(code, "attention", name, "control" if unicodedata.category(char) == "Cc" else "invisible", 1)


def _hidden_words(label: str, what: str, run: str, words: str) -> Segment:
    block = "the Unicode Tags block" if what == "tags" else "the variation selectors"
    shown = f"{label}: “{words}”" if words else f"{label}: {len(run)} characters"
    return Segment(shown, "danger", f"{len(run)} characters from {block}", what, len(run))


def _tags(run: str) -> str:
    return "".join(chr(ord(c) - 0xE0000) for c in run if 0xE0020 <= ord(c) <= 0xE007E)


def _selectors(run: str) -> str:
    """Bytes smuggled in variation selectors, when they are readable text."""
    data = bytes(ord(c) - 0xFE00 if c <= "\ufe0f" else ord(c) - 0xE0100 + 16 for c in run)
    try:
        words = data.decode()
    except UnicodeDecodeError:
        return ""
    return words if words.isprintable() else ""


def _merged(pieces: Iterator[Segment]) -> Iterator[Segment]:
    """Neighbours that are alike as one: plain text joined, the same chip counted."""
    for (tone, what, key), group in groupby(pieces, key=lambda s: (s.tone, s.what, s.text if s.tone else "")):
        same = list(group)
        if not tone:
            yield Segment("".join(s.text for s in same))
        else:
            text = f"{key} x {len(same)}" if len(same) > 1 else key
            yield Segment(text, tone, same[0].title, what, sum(s.count for s in same))

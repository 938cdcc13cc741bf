"""Text that is aimed at the agent that will read it: orders, requests for trust, imitated frames."""

import base64
import binascii
import re
from collections.abc import Iterator

from banks.hidden import segments
from reviews.screening.marks import Found
from reviews.screening.orders import STRONG, TOGETHER, WEAK
from reviews.screening.orders_elsewhere import IN_LATIN, IN_OTHERS

_WHY = {
    "override": "It tells the agent to set aside its instructions, its reviewers or other memories.",
    "act": "It tells the agent to run, send, weaken or hide something.",
    "trust": "It asks the agent for lasting trust, preference or copying.",
    "frame": "It imitates what only the system or a person in the conversation writes.",
    "order": "It gives the agent an order, not a fact.",
}
_SENTENCE = re.compile(r"[^\n.!?;。！？；]+(?:[.!?;](?=\S)[^\n.!?;。！？；]+)*[.!?;。！？；]*")
# Texts about attacks name them: as what a test checks, what a filter finds, what somebody reported.
_ABOUT = re.compile(
    r"\b(?:tests?|detect\w*|block\w*|filter\w*|refus\w*|reject\w*|quarantin\w*|escap\w*|sanit\w*|scann\w*|flag\w*|phrases?|payloads?|strings?|"
    r"example|attacks?|attackers?|injections?|fixtures?|bugs?|reported|ticket|issue|regression|malicious|prompt[- ]injection|classif\w*|catch(?:es)?|strip\w*|"
    r"docs?|documented|called|named|labell?ed|titled|says|words?|element|tag|renders?|parser?s?|parses|prüf\w*|erkenn\w*|тест\w*|провер\w*|фильтр\w*)\b",
    re.IGNORECASE,
)
_QUOTES = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”|«[^»\n]*»|„[^“”\n]*[“”]|`[^`\n]*`|'[^'\n]{8,}'(?!\w)|「[^」\n]*」")
_CODED = re.compile(r"[A-Za-z0-9+/]{24,}={0,2}")
MOST = 20  # marks of one text


def find(text: str) -> Iterator[Found]:
    found = sorted({*_plain(text), *_decoded(text)})
    end = -1
    for start, stop, sort in found[:MOST]:
        if start >= end:
            yield Found("injection", start, stop, _WHY[sort], "danger")
            end = stop


def _plain(text: str) -> Iterator[tuple[int, int, str]]:
    for sort, pattern in [*STRONG, *IN_LATIN, *([] if text.isascii() else IN_OTHERS)]:
        for match in pattern.finditer(text):
            if not _is_quoted(text, *match.span()):
                yield *match.span(), sort
    for sentence in _SENTENCE.finditer(text):
        if (
            len(sentence.group()) > 12
            and (sort := _weakly(sentence.group()))
            and not _is_quoted(text, *sentence.span(), whole=True)
        ):
            yield *sentence.span(), sort


def _weakly(sentence: str) -> str:
    sorts = {sort for sort, pattern in WEAK if pattern.search(sentence)}
    return "order" if any(pair <= sorts for pair in TOGETHER) else ""


def _is_quoted(text: str, start: int, end: int, *, whole: bool = False) -> bool:
    """Whether the words are the subject of a sentence about attacks, and not said to its reader."""
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    line = text[line_start : len(text) if line_end < 0 else line_end]
    at, stop = start - line_start, end - line_start
    for quote in _QUOTES.finditer(line[:2000]):
        inside = quote.start() <= at and stop <= quote.end()
        part = whole and at <= quote.start() and quote.end() <= stop
        if (inside or part) and _ABOUT.search(line[: quote.start()] + " " + line[quote.end() :]):
            return not whole or not _weakly(line[at : quote.start()] + line[quote.end() : stop])
    return False


def _decoded(text: str) -> Iterator[tuple[int, int, str]]:
    """What a run of base64, the Tags block or variation selectors says."""
    for match in _CODED.finditer(text[:200_000]):
        if (said := _base64(match.group())) and (sort := _order_in(said)):
            yield *match.span(), sort
    at = 0
    for piece in segments(text):
        length = piece.count if piece.tone else len(piece.text)
        if piece.what in {"tags", "selectors"} and piece.count >= 8 and _is_said(piece.text.partition(": ")[2]):
            yield at, at + length, "order"
        at += length


def _is_said(words: str) -> bool:
    """Nobody hides a fact: what is hidden and reads like words is an order."""
    return len(re.findall(r"[^\W\d_]{2,}", words)) >= 2


def _order_in(said: str) -> str:
    return next((sort for _, _, sort in _plain(said)), "")


def _base64(run: str) -> str:
    try:
        said = base64.b64decode(run + "=" * (-len(run) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
    return said if said.isprintable() or "\n" in said else ""

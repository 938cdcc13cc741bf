"""Values in foreign text that open something: where they are, so that pages can mask them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache

from banks.secrets import formats, library, named
from banks.secrets.needles import needle_of
from banks.secrets.plausible import is_placeholder

SHORT = 2_000  # characters, of texts that are looked through again and again
# Without any of these there is nothing to find: most ids and names on a page are done with here.
_WORTH = re.compile(
    r"[A-Za-z0-9_+/=.-]{16}|://|pass|pwd|psw|mdp|secret|token|key|login|basic|auth|identified|[^\x00-\x7f]|-u\s|-p|wacht|"
    r"kennw|clave|senha|chave|has[lł]o|klucz|heslo|parol|credential|geheim|zugang|chiave|sleutel|salasana|adgang|pin|otp",
    re.IGNORECASE,
)
# Ids and names in one word.
_WORTH_ALONE = re.compile(r"(?<![A-Za-z_])(?=[A-Za-z_]*\d)\w{20,}|://|[=:]\S|eyJ|[sg][hk][-p_]|[^\x00-\x7f]")


@dataclass(frozen=True)
class Secret:
    """[start, end) in code points; `what` is a name such as "GitHub token"."""

    start: int
    end: int
    what: str


def find(text: str) -> list[Secret]:
    """In the order of the text, none overlapping."""
    if len(text) < 6 or not (_WORTH if " " in text or "\n" in text else _WORTH_ALONE).search(text):
        return []
    return list(_remembered(text) if len(text) <= SHORT else _joined(_all(text)))


@lru_cache(maxsize=1024)
def _remembered(text: str) -> tuple[Secret, ...]:
    return tuple(_joined(_all(text)))


@cache
def _patterns() -> list[tuple[str, re.Pattern[str], bool, str]]:
    """(name, pattern, whether a group is the value, what the text has to hold)."""
    known = [(what, pattern, grouped, needle_of(pattern)) for what, pattern, grouped in library.patterns()]
    return known + [(what, pattern, "v" in pattern.groupindex, needle_of(pattern)) for what, pattern in formats.FORMATS]


def _all(text: str) -> Iterator[Secret]:
    for what, pattern, grouped, needle in _patterns():
        if needle not in text:
            continue
        for match in pattern.finditer(text):
            start, end = _value(match) if grouped else match.span()
            if what == "private key" or not (is_placeholder(text[start:end]) or _is_the_name(text, start, end)):
                yield Secret(start, end, what)
    for start, end, what in named.find(text):
        yield Secret(start, end, what)


def _is_the_name(text: str, start: int, end: int) -> bool:
    """ "guest:guest@": what everybody knows."""
    return text[:start].endswith(f"//{text[start:end]}:")


def _value(match: re.Match[str]) -> tuple[int, int]:
    if "v" in match.re.groupindex:
        return match.span("v")
    return next((match.span(n) for n in range(1, match.re.groups + 1) if match[n]), match.span())


def _joined(found: Iterator[Secret]) -> Iterator[Secret]:
    """What overlaps is one; its name is that of the rule that came first, since the first rules say most."""
    ranked = sorted(enumerate(found), key=lambda each: (each[1].start, -each[1].end))
    held: Secret | None = None
    rank = 0
    for number, secret in ranked:
        if held is None or secret.start >= held.end:
            if held is not None:
                yield held
            held, rank = secret, number
            continue
        held = Secret(held.start, max(held.end, secret.end), secret.what if number < rank else held.what)
        rank = min(rank, number)
    if held is not None:
        yield held

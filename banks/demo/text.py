"""How the demo server understands text: the same input always gives the same facts. No model is involved.

Markers in a text steer it, so that failures and slowness can be seen: `[[FAIL]]` fails every extraction,
`[[FAILN:2:key]]` the first two that carry the key, `[[SLOW:5]]` takes five seconds (`[[SLOW:5:key]]` too),
`[[NOFACTS]]` finds nothing.
"""

import hashlib
import re
from dataclasses import dataclass

CHUNK = 3_000  # characters, the server's default
MOST_FACTS = 60  # of one chunk
LONGEST_FACT = 300  # characters
_SHORTEST_FACT = 4

_SENTENCE = re.compile(r"(?<=[.!?؟])\s+|(?<=[。！？])\s*|\n+")  # noqa: RUF001
_BULLET = re.compile(r"^(?:[-*•>#]+|\d+[.)])\s+")
_DATE = re.compile(r"\b(20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))\b")
_WORD = re.compile(r"[^\W\d_]+")
_FIRST_PERSON = re.compile(r"(?:I|We)\b")
_SLOW = re.compile(r"\[\[SLOW:(\d+)(?::\w+)?\]\]")
_FAIL_SOME = re.compile(r"\[\[FAILN:(\d+):(\w+)\]\]")
_SMALL_WORDS = """
The A An In On At It He She They We I This That These Those And But Or If When While Of For From To By With As Is Was
Are No Not Do Never Always Der Die Das Ein Eine Wir Im Le La Les Il Elle Nous Un Une
В На Мы Он Она Это Не По Для
"""  # noqa: RUF001
_NOT_NAMES = frozenset(_SMALL_WORDS.split())


@dataclass(frozen=True, slots=True)
class Found:
    """One fact of a text. `date` is the ISO day that the sentence names, "" when it names none."""

    text: str
    type: str
    entities: list[str]
    date: str


def content_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def chunks(text: str) -> list[str]:
    """The text in pieces of at most `CHUNK` characters, cut at the last paragraph, line, sentence or space."""
    pieces = []
    rest = text
    while len(rest) > CHUNK:
        cut = _last_cut(rest[:CHUNK])
        pieces.append(rest[:cut])
        rest = rest[cut:]
    return [*pieces, rest] if rest or not pieces else pieces


def facts(chunk: str) -> list[Found]:
    """One fact for each sentence or line."""
    if "[[NOFACTS]]" in chunk:
        return []
    sentences = [_BULLET.sub("", part.strip()) for part in _SENTENCE.split(chunk)]
    return [_fact(sentence) for sentence in sentences if len(sentence) >= _SHORTEST_FACT][:MOST_FACTS]


def entities(sentence: str) -> list[str]:
    """Capitalised words, at most five, in the order of their first appearance."""
    names = [word for word in _WORD.findall(sentence) if word[0].isupper() and word not in _NOT_NAMES and len(word) > 1]
    return list(dict.fromkeys(names))[:5]


def words(sentence: str) -> set[str]:
    """What it speaks of, for finding: longer words without their case."""
    return {word.lower() for word in _WORD.findall(sentence) if len(word) > _SHORTEST_FACT}


def seconds_of(text: str) -> int:
    """How much longer than usual the extraction takes."""
    return max((min(int(found), 60) for found in _SLOW.findall(text)), default=0)


def always_fails(text: str) -> bool:
    return "[[FAIL]]" in text


def fails_at_first(text: str) -> tuple[str, int] | None:
    """(key, how many extractions fail), None without such a marker."""
    found = _FAIL_SOME.search(text)
    return (found[2], int(found[1])) if found else None


def _fact(sentence: str) -> Found:
    day = _DATE.search(sentence)
    text = sentence if len(sentence) <= LONGEST_FACT else f"{sentence[: LONGEST_FACT - 1]}…"
    kind = "experience" if _FIRST_PERSON.match(sentence) else "world"
    return Found(text=text, type=kind, entities=entities(sentence[:LONGEST_FACT]), date=day[1] if day else "")


def _last_cut(head: str) -> int:
    for separator in ("\n\n", "\n", ". ", "。", " "):
        at = head.rfind(separator)
        if at > 0:
            return at + len(separator)
    return len(head)

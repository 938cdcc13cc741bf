"""Whether a model's verdicts about facts are borne out by what was said: pure rules, no database.

A verdict counts when its quote is in the transcript, word for word but for case and spacing, and long enough to mean
something. That the quote is about that fact, nobody can check here; the reason that is stored lets a person see it.
The rules are those of pi-hindsight 0.5.1.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

CONTRADICTS = "contradicts"
SHORTEST_QUOTE, FEWEST_WORDS = 20, 4

# What JavaScript calls white space: not the information separators and U+0085, but U+FEFF.
_SPACES = "\t\n\v\f\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_SPACE = re.compile(f"[{_SPACES}]+")
_ENDS = re.compile(f"^[{_SPACES}]+|[{_SPACES}]+$")


class NoVerdicts(Exception):
    """The reply is not what was asked for, so nothing of it counts. str() says why."""


@dataclass(frozen=True)
class Kill:
    """A verdict that counts. `quote` is as the model spelt it: it becomes the reason."""

    id: str
    quote: str


@dataclass(frozen=True)
class Judged:
    """`kills` in the order of the reply; `refused`: {candidate: why its last verdict does not count}."""

    kills: list[Kill]
    refused: dict[str, str]


def parse_reply(reply: str) -> list[Any]:
    """The verdicts of a model's reply, which must be JSON and nothing else. Raises NoVerdicts."""
    try:
        said = json.loads(_ENDS.sub("", reply), parse_constant=_no_number)
    except (ValueError, RecursionError):
        raise NoVerdicts("The reply is not pure JSON.") from None
    verdicts = said.get("verdicts") if isinstance(said, dict) else None
    if not isinstance(verdicts, list):
        raise NoVerdicts("The reply has no list `verdicts`.")
    return verdicts


def judge(*, transcript: str, candidates: Iterable[str], verdicts: Sequence[Any]) -> Judged:
    """Which candidates die. A bad quote does not block a later good one for the same candidate."""
    said, allowed = normalised(transcript), set(candidates)
    kills: dict[str, Kill] = {}
    refused: dict[str, str] = {}
    for verdict in verdicts:
        if not isinstance(verdict, dict) or not isinstance(verdict.get("id"), str):
            continue
        fact_id = _ENDS.sub("", verdict["id"])
        if fact_id not in allowed or fact_id in kills:
            continue
        quote = verdict.get("quote")
        if why := _objection(verdict.get("verdict"), quote, said):
            refused[fact_id] = why
        else:
            kills[fact_id] = Kill(fact_id, str(quote))
    return Judged(list(kills.values()), {each: why for each, why in refused.items() if each not in kills})


def normalised(text: str) -> str:
    return _ENDS.sub("", _SPACE.sub(" ", text)).lower()


def _objection(verdict: Any, quote: Any, said: str) -> str:
    """Why a verdict does not count, "" when it does."""
    if verdict != CONTRADICTS:
        return f"The verdict is not “{CONTRADICTS}”."
    if not isinstance(quote, str):
        return "There is no quote."
    wanted = normalised(quote)
    if length(wanted) < SHORTEST_QUOTE or len([word for word in wanted.split(" ") if word]) < FEWEST_WORDS:
        return f"The quote is too short: {SHORTEST_QUOTE} characters and {FEWEST_WORDS} words are the least."
    return "" if wanted in said else "The quote is not in the transcript."


def length(text: str) -> int:
    """As JavaScript counts: in UTF-16 units."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _no_number(name: str) -> Any:
    raise ValueError(name)

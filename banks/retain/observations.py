"""Which observations a memory goes into: what its `observation_scopes` come to with its tags, as servers reckon it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import combinations, islice
from typing import Any

SHOWN = 32
MOST_PATTERNS = 100  # of one memory that are tried here: each costs, for each tag, and a page waits for it
BANKS_OWN = "The bank's own setting decides; where nobody has set it, it is combined:"
EMPTY_LIST = "An empty list names no scope, so the server does as for combined. For one scope without tags write [[]]."
ONE_EMPTY = "One scope without tags: the same as shared."
NOTHING_MATCHES = "No pattern matches a tag of this memory, so the server does as for combined."
TOO_MANY = f"More than {MOST_PATTERNS} patterns: only the server works them out."
LEFT_OUT = "A pattern that matches no tag of this memory gives no scope."


@dataclass(frozen=True)
class Built:
    """`scopes`: the tags of each, the first of `count`; [] is the one without tags. `count`: 0 = not worked out.
    `note`: "" or a sentence."""

    scopes: list[list[str]]
    count: int
    note: str = ""

    @property
    def omitted(self) -> int:
        return self.count - len(self.scopes)


def built(value: Any, tags: Sequence[str]) -> Built:
    """`value` as `banks.retain.params` takes it; `tags`: all of the memory, those of its request among them."""
    own = list(dict.fromkeys(tags))
    if value is None:
        return Built([own], 1, BANKS_OWN)
    if isinstance(value, str):
        return _by_word(value, own)
    if not value:
        return Built([own], 1, EMPTY_LIST)
    if sum("*" in entry for scope in value for entry in scope) > MOST_PATTERNS:
        return Built([], 0, TOO_MANY)
    scopes = [found for scope in value if (found := _resolved(scope, own)) is not None]
    if not scopes:
        return Built([own], 1, NOTHING_MATCHES)
    note = ONE_EMPTY if value == [[]] else LEFT_OUT if len(scopes) < len(value) else ""
    return Built(scopes[:SHOWN], len(scopes), note)


def _by_word(word: str, own: list[str]) -> Built:
    if word == "shared":
        return Built([[]], 1)
    if word == "combined" or not own:
        return Built([own], 1)
    if word == "per_tag":
        return Built([[tag] for tag in own[:SHOWN]], len(own))
    return Built(list(islice(_subsets(own), SHOWN)), 2 ** len(own) - 1)


def _subsets(tags: list[str]) -> Iterator[list[str]]:
    return (list(some) for size in range(1, len(tags) + 1) for some in combinations(tags, size))


def _resolved(scope: Sequence[str], own: Sequence[str]) -> list[str] | None:
    """With the tags that its patterns match. None where it has patterns and nothing is left of it."""
    if not any("*" in entry for entry in scope):
        return list(dict.fromkeys(scope))
    literal = {entry for entry in scope if "*" not in entry}
    matched = {tag for entry in scope if "*" in entry for tag in own if fnmatchcase(tag, entry)}
    return sorted(literal | matched) or None

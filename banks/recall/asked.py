"""What a person asks a bank, as a job and a saved query keep it."""

import re
from dataclasses import asdict, dataclass
from typing import Any

from banks.hindsight import Recall, Reflect
from banks.hindsight.recall import Budget, TagsMatch
from banks.recall.block import MOST

TYPES = ("world", "experience", "observation")
BUDGETS: tuple[Budget, ...] = ("low", "mid", "high")
MODES: tuple[TagsMatch, ...] = ("any", "any_strict", "all", "all_strict", "exact")
LONGEST_QUERY = 4_000
TOKENS = 2_048  # what agents ask for
MOST_TOKENS = 32_000
MOST_LINES = 100


@dataclass(frozen=True)
class Asked:
    """`prefer`: observations instead of the facts they are made from; None is as the bank is set. `lines`: of facts in
    the block."""

    query: str
    types: tuple[str, ...] = ()
    budget: Budget = "mid"
    max_tokens: int = TOKENS
    tags: tuple[str, ...] = ()
    tags_match: TagsMatch = "any"
    prefer: bool | None = None
    lines: int = MOST

    @property
    def as_json(self) -> dict[str, Any]:
        return asdict(self) | {"types": list(self.types), "tags": list(self.tags)}

    @classmethod
    def parse(cls, stored: dict[str, Any]) -> "Asked":
        """Of what `as_json` made."""
        return cls(**stored | {name: tuple(stored.get(name, ())) for name in ("types", "tags")})

    @property
    def has_words(self) -> bool:
        """Servers refuse a question without a single word."""
        return re.search(r"\w", self.query) is not None

    def recall(self, *, trace: bool = False) -> Recall:
        return Recall(
            self.query,
            types=self.types,
            budget=self.budget,
            max_tokens=self.max_tokens,
            tags=self.tags,
            prefer_observations=self.prefer,
            tags_match=self.tags_match,
            trace=trace,
            sources=True,
        )

    def reflect(self) -> Reflect:
        return Reflect(
            self.query, budget=self.budget, max_tokens=self.max_tokens, tags=self.tags, tags_match=self.tags_match
        )


def budget_of(given: str) -> Budget:
    return given if given in BUDGETS else "mid"


def mode_of(given: str) -> TagsMatch:
    return given if given in MODES else "any"

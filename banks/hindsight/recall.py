"""Recall: what a bank finds for a question. It changes nothing; ranking may ask a model and take its time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from banks.hindsight import fields
from banks.hindsight.calls import Calls
from banks.hindsight.fields import Row, ShapeError
from banks.hindsight.shapes import Fact

Budget = Literal["low", "mid", "high"]


@dataclass(frozen=True, slots=True)
class Recall:
    """What is asked for. `types`: of world, experience, observation, () for all; `max_tokens`: of all texts together.

    tags: only what has one of them, or none at all. prefer_observations: None is as the bank is set.
    """

    query: str
    types: Sequence[str] = ()
    budget: Budget = "mid"
    max_tokens: int = 4_096
    tags: Sequence[str] = ()
    prefer_observations: bool | None = None

    def as_json(self) -> dict[str, Any]:
        body: dict[str, Any] = {"query": self.query, "budget": self.budget, "max_tokens": self.max_tokens}
        if self.types:
            body["types"] = list(self.types)
        if self.tags:
            body["tags"] = list(self.tags)
        if self.prefer_observations is not None:
            body["prefer_observations"] = self.prefer_observations
        return body


@dataclass(frozen=True, slots=True)
class Hit:
    """A valid fact or observation, as recall tells of it: fewer fields than lists have, and no state.

    scores: {stage: value} of those stages that found it, such as final, semantic and keyword.
    """

    fact: Fact
    scores: dict[str, float]

    @classmethod
    def parse(cls, row: Row) -> "Hit":
        given = row.get("scores")
        scores = given if isinstance(given, dict) else {}
        told = {str(k): float(v) for k, v in scores.items() if isinstance(v, int | float) and not isinstance(v, bool)}
        return cls(Fact.parse(row), told)

    @classmethod
    def parse_all(cls, row: Row) -> "list[Hit]":
        rows = row.get("results")
        if not isinstance(rows, list):
            raise ShapeError("no list 'results' in the answer")
        return [cls.parse(fields.mapping(each)) for each in rows]


class RecallCalls(Calls):
    def recall(self, bank_id: str, asked: Recall) -> list[Hit]:
        """The best first. NotFound for a bank that does not exist: this call creates none. Invalid without a word."""
        path = self._bank(bank_id, "memories", "recall")
        answer = self._send("POST", path, body=asked.as_json())
        return self._parse(answer, Hit.parse_all, method="POST", path=path.decode("ascii"))

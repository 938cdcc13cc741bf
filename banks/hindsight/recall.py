"""Recall: what a bank finds for a question. It changes nothing; ranking may ask a model and take its time."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from banks.hindsight import fields
from banks.hindsight.calls import Calls
from banks.hindsight.fields import Row, ShapeError
from banks.hindsight.shapes import Fact

Budget = Literal["low", "mid", "high"]
TagsMatch = Literal["any", "all", "any_strict", "all_strict", "exact"]


@dataclass(frozen=True, slots=True)
class Recall:
    """What is asked for. `types`: of world, experience, observation, () for all; `max_tokens`: of all texts together.

    tags: only what has one of them, or none at all; `tags_match` says otherwise. prefer_observations: None is as the
    bank is set. trace: the server also says how it came to its answer. sources: observations name the facts that they
    are made from; else none does.
    """

    query: str
    types: Sequence[str] = ()
    budget: Budget = "mid"
    max_tokens: int = 4_096
    tags: Sequence[str] = ()
    prefer_observations: bool | None = None
    tags_match: TagsMatch = "any"
    trace: bool = False
    sources: bool = False

    def as_json(self) -> dict[str, Any]:
        body: dict[str, Any] = {"query": self.query, "budget": self.budget, "max_tokens": self.max_tokens}
        if self.types:
            body["types"] = list(self.types)
        if self.tags:
            body["tags"] = list(self.tags)
            if self.tags_match != "any":  # without tags "exact" would ask for what has none
                body["tags_match"] = self.tags_match
        if self.prefer_observations is not None:
            body["prefer_observations"] = self.prefer_observations
        if self.trace:
            body["trace"] = True
        if self.sources:
            body["include"] = {"source_facts": {"max_tokens": 0}}  # their ids come all the same, and all of them
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
        scores = given.items() if isinstance(given, dict) else ()
        told = {str(k): value for k, v in scores if (value := fields.decimal(v)) is not None}
        # Lists call them `source_memory_ids`.
        return cls(replace(Fact.parse(row), source_fact_ids=fields.texts(row, "source_fact_ids")), told)

    @classmethod
    def parse_all(cls, row: Row) -> "list[Hit]":
        rows = row.get("results")
        if not isinstance(rows, list):
            raise ShapeError("no list 'results' in the answer")
        return [cls.parse(fields.mapping(each)) for each in rows]


@dataclass(frozen=True, slots=True)
class Search:
    """One of the searches that a recall is made of: `method` is the server's word; `found`: how many."""

    method: str
    type: str
    found: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Trace:
    """How the server came to its answer. Servers may tell less: what is not told is 0 or empty.

    steps: (name, seconds); ranks: {fact: {search: place from 1}}; merged: {fact: text} of all that the searches found
    together, also what the answer leaves out, the best first.
    """

    seconds: float = 0.0
    visited: int = 0
    searches: list[Search] = field(default_factory=list)
    steps: list[tuple[str, float]] = field(default_factory=list)
    ranks: dict[str, dict[str, int]] = field(default_factory=dict)
    merged: dict[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, row: Row) -> "Trace | None":
        told = row.get("trace")
        if not isinstance(told, dict):
            return None
        summary = told.get("summary")
        summary = summary if isinstance(summary, dict) else {}
        merged = [each for each in _rows(told, "rrf_merged") if fields.text(each, "node_id")]
        return cls(
            seconds=_seconds(summary, "total_duration_seconds"),
            visited=fields.number(summary, "total_nodes_visited"),
            searches=[_search(each) for each in _rows(told, "retrieval_results")],
            steps=[
                (fields.text(each, "phase_name"), _seconds(each, "duration_seconds"))
                for each in _rows(summary, "phase_metrics")
            ],
            ranks={fields.text(each, "node_id"): _ranks(each) for each in merged},
            merged={fields.text(each, "node_id"): fields.text(each, "text") for each in merged},
        )


@dataclass(frozen=True, slots=True)
class Recalled:
    """The hits, the best first. `trace`: None where none was asked for, or the server tells none.

    ignored_params: of what was asked for, what the server did not know.
    """

    hits: list[Hit]
    trace: Trace | None = None
    ignored_params: tuple[str, ...] = ()


class RecallCalls(Calls):
    def recall(self, bank_id: str, asked: Recall) -> list[Hit]:
        """The best first. NotFound for a bank that does not exist: this call creates none. Invalid without a word."""
        return self.recall_in_full(bank_id, asked).hits

    def recall_in_full(self, bank_id: str, asked: Recall) -> Recalled:
        """The same with what the server says about it."""
        path = self._bank(bank_id, "memories", "recall")
        answer = self._send("POST", path, body=asked.as_json())
        return self._parse(
            answer,
            lambda row: Recalled(Hit.parse_all(row), Trace.parse(row), answer.ignored_params),
            method="POST",
            path=path.decode("ascii"),
        )


def _search(row: Row) -> Search:
    found = row.get("results")
    return Search(
        method=fields.text(row, "method_name"),
        type=fields.text(row, "fact_type"),
        found=len(found) if isinstance(found, list) else 0,
        seconds=_seconds(row, "duration_seconds"),
    )


def _ranks(row: Row) -> dict[str, int]:
    """The server says `semantic_rank`; here it is `semantic`."""
    given = fields.counts(row, "source_ranks")
    return {name.removesuffix("_rank"): place for name, place in given.items()}


def _rows(row: Row, key: str) -> list[Row]:
    value = row.get(key)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _seconds(row: Row, key: str) -> float:
    return fields.decimal(row.get(key)) or 0.0

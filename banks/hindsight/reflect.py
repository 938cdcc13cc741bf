"""Reflect: an answer that a language model writes from what a bank holds. It stores no memory and takes its time."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from banks.hindsight import fields
from banks.hindsight.calls import Calls
from banks.hindsight.fields import Row
from banks.hindsight.recall import Budget, TagsMatch


@dataclass(frozen=True, slots=True)
class Reflect:
    """What is asked. `max_tokens`: of the answer; the tags as those of a recall."""

    query: str
    budget: Budget = "low"
    max_tokens: int = 4_096
    tags: Sequence[str] = ()
    tags_match: TagsMatch = "any"

    def as_json(self) -> dict[str, Any]:
        """Its sources are asked for with it; of the calls that the model made only what they asked."""
        include = {"facts": {}, "tool_calls": {"output": False}}
        body: dict[str, Any] = {
            "query": self.query,
            "budget": self.budget,
            "max_tokens": self.max_tokens,
            "include": include,
        }
        if self.tags:
            body |= {"tags": list(self.tags), "tags_match": self.tags_match}
        return body


@dataclass(frozen=True, slots=True)
class Source:
    """What an answer rests on. `kind`: fact, model or directive; `type` of a fact; `id` is "" where none is told."""

    kind: str
    id: str
    text: str
    type: str = ""
    document_id: str = ""


@dataclass(frozen=True, slots=True)
class Reflection:
    """`sources`: None where the server did not say. `asked`: (what the model called, in which words)."""

    text: str
    sources: list[Source] | None
    tokens: int
    asked: list[tuple[str, str]] = field(default_factory=list)

    @classmethod
    def parse(cls, row: Row) -> "Reflection":
        usage, trace = row.get("usage"), row.get("trace")
        calls = trace.get("tool_calls") if isinstance(trace, dict) else None
        return cls(
            text=fields.required(row, "text"),
            sources=_sources(row.get("based_on")),
            tokens=fields.number(usage, "total_tokens") if isinstance(usage, dict) else 0,
            asked=[_call(each) for each in calls if isinstance(each, dict)] if isinstance(calls, list) else [],
        )


class ReflectCalls(Calls):
    def reflect(self, bank_id: str, asked: Reflect) -> Reflection:
        """An answer with its sources. **The server creates a missing bank**: look whether it is there first.

        Invalid without a question, and on a server without a language model.
        """
        return self._parsed("POST", self._bank(bank_id, "reflect"), Reflection.parse, body=asked.as_json())


def _sources(told: Any) -> list[Source] | None:
    if not isinstance(told, dict):
        return None
    found = [
        Source(
            "fact",
            fields.text(row, "id"),
            fields.text(row, "text"),
            fields.text(row, "type"),
            fields.text(row, "document_id"),
        )
        for row in _rows(told, "memories")
    ]
    found += [Source("model", fields.text(row, "id"), fields.text(row, "text")) for row in _rows(told, "mental_models")]
    return found + [
        Source("directive", fields.text(row, "id"), fields.text(row, "name") or fields.text(row, "content"))
        for row in _rows(told, "directives")
    ]


def _call(row: Row) -> tuple[str, str]:
    given = row.get("input")
    return fields.text(row, "tool"), fields.text(given, "query") if isinstance(given, dict) else ""


def _rows(row: Row, key: str) -> list[Row]:
    value = row.get(key)
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []

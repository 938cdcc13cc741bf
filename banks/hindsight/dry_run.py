"""What a retain would draw from a text: asked without storing anything."""

from dataclasses import dataclass
from typing import Any

from banks.hindsight import fields
from banks.hindsight.fields import Row


@dataclass(frozen=True, slots=True)
class DryRun:
    """The part of a retain that plays a role in it. `timestamp`: ISO 8601, None = without any."""

    content: str
    context: str = ""
    timestamp: str | None = None
    strategy: str | None = None

    def as_json(self) -> dict[str, Any]:
        optional = {"context": self.context or None, "timestamp": self.timestamp, "strategy": self.strategy}
        return {"content": self.content} | {name: value for name, value in optional.items() if value is not None}


@dataclass(frozen=True, slots=True)
class ExtractedFact:
    """A fact as it would be extracted: without an id, and its entities not yet matched with those of the bank."""

    text: str
    type: str
    entities: list[str]
    occurred: str

    @classmethod
    def parse(cls, row: Row) -> "ExtractedFact":
        return cls(
            text=fields.required(row, "text"),
            type=fields.text(row, "fact_type"),
            entities=fields.entities(row.get("entities")),
            occurred=fields.text(row, "occurred_start"),
        )


@dataclass(frozen=True, slots=True)
class Extraction:
    """`chunks`: in how many pieces the text was cut; `tokens`: of the models that were asked."""

    facts: list[ExtractedFact]
    chunks: int
    tokens: int

    @classmethod
    def parse(cls, row: Row) -> "Extraction":
        facts, chunks, usage = row.get("facts"), row.get("chunks"), row.get("usage")
        if not isinstance(facts, list):
            raise fields.ShapeError("no 'facts' in the answer")
        return cls(
            facts=[ExtractedFact.parse(fields.mapping(each)) for each in facts],
            chunks=len(chunks) if isinstance(chunks, list) else 0,
            tokens=fields.number(usage, "total_tokens") if isinstance(usage, dict) else 0,
        )

"""What a server makes of facts: what an observation is made from. Mental models: see `models`."""

from dataclasses import dataclass

from banks.hindsight import fields
from banks.hindsight.fields import Row


@dataclass(frozen=True, slots=True)
class SourceFact:
    """A fact that an observation is made from, in the few words that come with the observation."""

    id: str
    text: str
    type: str

    @classmethod
    def parse(cls, row: Row) -> "SourceFact":
        return cls(fields.required(row, "id"), fields.text(row, "text"), fields.text(row, "type"))

    @classmethod
    def parse_all(cls, row: Row) -> "list[SourceFact]":
        return [cls.parse(fields.mapping(each)) for each in row.get("source_memories") or []]

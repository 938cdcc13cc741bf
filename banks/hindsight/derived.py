"""What a server makes of facts: what an observation is made from, and what its mental models rest on."""

from dataclasses import dataclass
from typing import Any

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


@dataclass(frozen=True, slots=True)
class MentalModel:
    """`based_on`: ids of the facts and observations that its latest refresh read, None when the server did not say.

    It says so in full detail only, and for a model that was never refreshed not at all.
    """

    id: str
    name: str
    based_on: frozenset[str] | None

    @classmethod
    def parse(cls, row: Row) -> "MentalModel":
        return cls(fields.required(row, "id"), fields.text(row, "name"), _based_on(row.get("reflect_response")))


def _based_on(response: Any) -> frozenset[str] | None:
    """The lists by kind as one set: a fact may stand in several, and other kinds of things have ids of their own."""
    groups = response.get("based_on") if isinstance(response, dict) else None
    if not isinstance(groups, dict):
        return None
    each = [row for rows in groups.values() if isinstance(rows, list) for row in rows]
    return frozenset(row["id"] for row in each if isinstance(row, dict) and isinstance(row.get("id"), str))

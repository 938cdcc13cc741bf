"""What the page of an import shows: how many documents the file would create, and which; then what became of them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from banks.models import Job, JobItem
from banks.transfer import importing

SHOWN = 100
# What the page calls them, in its order.
FORESEEN = {
    importing.CREATE: "new here",
    importing.DIFFERS: "with another text here",
    importing.EXISTS: "here with the same text",
    importing.AGAIN: "in the file a second time",
    importing.REFUSED: "cannot be brought",
}
BECAME = {importing.QUEUED: "queued", importing.CHANGED: "not as it was seen, so left alone"}


@dataclass(frozen=True)
class Shown:
    """A document of the file, or a line that is none. `document_id` "" for the latter."""

    number: int
    document_id: str
    outcome: str
    reason: str

    @property
    def here(self) -> bool:
        """Whether the bank has a document of this id."""
        return self.outcome in (importing.DIFFERS, importing.EXISTS, importing.CHANGED)


@dataclass(frozen=True)
class Plan:
    """`seen`: the preview; `begun`: the import. `groups`: (outcome, its words, how many); `which`: the one listed."""

    seen: Job
    begun: Job | None
    groups: list[tuple[str, str, int]]
    which: str
    rows: list[Shown]
    more: int

    @property
    def counts(self) -> dict[str, int]:
        found: dict[str, int] = self.seen.result.get("counts", {})
        return found

    @property
    def whole(self) -> bool:
        """Whether the file has its last line."""
        return self.counts.get("end", 0) > 0

    @property
    def facts(self) -> int:
        return self.counts.get("fact", 0) + self.counts.get("retired", 0)

    @property
    def working(self) -> bool:
        return not self.seen.ended or (self.begun is not None and not self.begun.ended)


def plan_of(seen: Job, query: Mapping[str, str]) -> Plan:
    """A few queries. `query`: `which` of the groups is listed, `after` which line."""
    begun = importing.import_of(seen)
    words, of = (BECAME, begun) if begun is not None else (FORESEEN, seen)
    counts: dict[str, Any] = of.result.get("counts", {})
    groups = [(outcome, said, counts.get(outcome, 0)) for outcome, said in words.items() if counts.get(outcome)]
    names = [outcome for outcome, _, _ in groups]
    which = query.get("which", "")
    which = which if which in names else next(iter(names), "")
    after = query.get("after", "")
    number = int(after) if after.isascii() and after.isdigit() and len(after) < 10 else 0
    found = list(of.items.filter(outcome=which, number__gt=number).order_by("number")[: SHOWN + 1]) if which else []
    more = found[SHOWN - 1].number if len(found) > SHOWN else 0
    return Plan(seen, begun, groups, which, [_shown(item) for item in found[:SHOWN]], more)


def _shown(item: JobItem) -> Shown:
    reason = item.reason if item.outcome == importing.REFUSED else ""
    return Shown(item.number, bytes(item.raw).decode("utf-8", "replace"), item.outcome, reason)

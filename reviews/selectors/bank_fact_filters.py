"""What the list of a bank's facts is narrowed by, and whether its server did so."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from banks.hindsight import Entity, Fact
from memadmin.filtering import day_of, midnight
from reviews.selectors.places import PLACE, PlacedFilters, Window, place_of, sayable

STATES = {"": "valid", "invalidated": "retired"}
TYPES = {"": "all types", "world": "world", "experience": "experience", "observation": "observations"}
BACKWARDS = "The last day is before the first."
# What the parameters of a call are on the page.
NAMES = {
    "q": "the text",
    "state": "the state",
    "type": "the type",
    "tags": "the tag",
    "tags_match": "the tag",
    "entity_id": "the entity",
    "time_field": "the days",
    "start_date": "the days",
    "end_date": "the days",
}


@dataclass(frozen=True)
class BankFactFilters(PlacedFilters):
    """ "" = not asked for; anything unknown is dropped. `entity`: its id; `since`, `until`: days of being mentioned."""

    q: str = ""
    state: str = ""
    type: str = ""
    tag: str = ""
    entity: str = ""
    since: str = ""
    until: str = ""

    @classmethod
    def parse(cls, query: Mapping[str, str]) -> "BankFactFilters":
        state, kind = query.get("state", ""), query.get("type", "")
        return cls(
            q=sayable(query.get("q", ""))[:200],
            state=state if state in STATES else "",
            type=kind if kind in TYPES else "",
            tag=sayable(query.get("tag", ""))[:1_000],
            entity=_uuid(query.get("entity", "")),
            since=day_of(query.get("since", "")),
            until=day_of(query.get("until", "")),
            **place_of(query),
        )

    @property
    def why_not(self) -> str:
        """Why a server would refuse them; "" when there is no reason."""
        return BACKWARDS if self.since and self.until and self.until < self.since else ""

    @property
    def only_state(self) -> bool:
        """Whether all retired facts are asked for."""
        return bool(self.state) and not self.values.keys() - {"state", *PLACE}

    @property
    def first_moment(self) -> datetime | None:
        return midnight(self.since) if self.since else None

    @property
    def moment_after(self) -> datetime | None:
        return midnight(self.until) + timedelta(days=1) if self.until else None

    @property
    def asked(self) -> dict[str, Any]:
        """As `list_facts` takes them."""
        return {
            "q": self.q,
            "state": self.state or "valid",
            "type": self.type,
            "tags": [self.tag] if self.tag else [],
            "entity_id": self.entity,
            "mentioned_from": self.first_moment,
            "mentioned_before": self.moment_after,
        }


def not_applied(filters: BankFactFilters, window: Window[Fact], entity: Entity | None) -> tuple[str, ...]:
    """Names of the filters that the server did not apply: it said so, or facts came that were not asked for."""
    found = {NAMES.get(name, "one of these filters") for name in window.page.ignored_params}
    tests = _tests(filters, entity)
    found |= {name for name, passes in tests.items() if not all(passes(fact) for fact in window.page.items)}
    if window.overfull:
        found.add("how many facts a page has")
    return tuple(sorted(found))


def speaks_of(entity: Entity, fact: Fact) -> bool:
    """Observations name no entities in lists. A name with a comma has come in parts: names come as one text."""
    named = ", ".join(fact.entities).casefold()
    return fact.is_observation or (bool(named) and entity.name.casefold() in named)


def _tests(filters: BankFactFilters, entity: Entity | None) -> dict[str, Callable[[Fact], bool]]:
    tests: dict[str, Callable[[Fact], bool]] = {"the state": lambda fact: fact.state == filters.asked["state"]}
    if filters.type:
        tests["the type"] = lambda fact: fact.type == filters.type
    if filters.tag:
        tests["the tag"] = lambda fact: filters.tag in fact.tags
    if entity is not None:
        tests["the entity"] = lambda fact: speaks_of(entity, fact)
    if filters.since or filters.until:
        tests["the days"] = lambda fact: _within(filters, fact.mentioned_at)
    # Signs of patterns mean other signs on the server, so nothing can be said of them.
    if filters.q and not set(filters.q) & set("%_\\"):
        sought = filters.q.casefold()
        tests["the text"] = lambda fact: sought in fact.text.casefold() or sought in fact.context.casefold()
    return tests


def _within(filters: BankFactFilters, moment: datetime | None) -> bool:
    if moment is None:
        return False
    first, end = filters.first_moment, filters.moment_after
    return (first is None or first <= moment) and (end is None or moment < end)


def _uuid(text: str) -> str:
    try:
        return str(UUID(text))
    except ValueError:
        return ""

"""What is made of a fact, and what an observation is made of: asked of the server while a fragment waits.

Servers have no list of what derives from one fact, so all observations are looked through, newest first, as far as time
allows. What could not be seen is said as that: a number that is not known is never 0.
"""

import time
from dataclasses import dataclass

from banks import connections
from banks.hindsight import HindsightClient, HindsightError, NotFound, SourceFact
from banks.models import Bank
from memadmin.retention import RetainedItems, first_of

CALL_SECONDS = 2.0  # one call; together with the lists a fragment is there within five
LIST_SECONDS = 1.0  # after which no further page is asked for
OBSERVATIONS_PAGE, MOST_OBSERVATIONS = 500, 5_000
MODELS_PAGE, MOST_MODELS = 20, 100
SOURCES_SHOWN = 50
NOT_ASKED = "The server does not answer just now, so it was not asked."


@dataclass(frozen=True)
class Seen:
    """How many of a list fit, among those that were looked through. `of`: how many there are in all."""

    number: int
    looked_at: int
    of: int
    names: tuple[str, ...] = ()

    @property
    def whole(self) -> bool:
        return self.looked_at >= self.of


@dataclass(frozen=True)
class Impact:
    """What rests on a fact; None = unknown, and `why` it is."""

    observations: Seen | None
    models: Seen | None
    why: str = ""


@dataclass(frozen=True)
class Sources:
    """What an observation is made from; None = could not be read."""

    facts: RetainedItems[SourceFact] | None
    why: str = ""


def impact_of(bank: Bank, fact_id: str) -> Impact:
    if connections.paused_until(bank.server):
        return Impact(None, None, NOT_ASKED)
    observations = models = None
    began = time.monotonic()
    try:
        with connections.talking_to(bank.server, within=CALL_SECONDS) as client:
            derived, observations = _observations(client, bank, fact_id, began)
            models = _models(client, bank, {fact_id, *derived}, began)
    except NotFound as error:
        # A server without mental models has no such route.
        return Impact(observations, None, "" if observations and error.what == "route" else str(error))
    except HindsightError as error:
        return Impact(observations, models, str(error))
    return Impact(observations, models)


def sources_of(bank: Bank, observation_id: str) -> Sources:
    if connections.paused_until(bank.server):
        return Sources(None, NOT_ASKED)
    try:
        with connections.talking_to(bank.server, within=CALL_SECONDS) as client:
            return Sources(first_of(client.sources_of(bank.bank_id, observation_id), SOURCES_SHOWN))
    except HindsightError as error:
        return Sources(None, str(error))


def _observations(client: HindsightClient, bank: Bank, fact_id: str, began: float) -> tuple[set[str], Seen]:
    looked, found = set[str](), set[str]()
    while True:
        page = client.list_facts(bank.bank_id, type="observation", limit=OBSERVATIONS_PAGE, offset=len(looked))
        before = len(looked)
        looked.update(each.id for each in page.items)
        found.update(each.id for each in page.items if each.is_observation and fact_id in each.source_fact_ids)
        if len(looked) >= min(page.total, MOST_OBSERVATIONS) or len(looked) == before or _late(began):
            return found, Seen(len(found), len(looked), page.total)


def _models(client: HindsightClient, bank: Bank, about: set[str], began: float) -> Seen:
    """Those that have read one of these. A model that does not say on what it rests counts as not looked at."""
    offset, told, names = 0, 0, list[str]()
    while True:
        page = client.list_mental_models(bank.bank_id, detail="full", limit=MODELS_PAGE, offset=offset)
        offset += len(page.items)
        said = [model for model in page.items if model.based_on is not None]
        told += len(said)
        names += [model.name or model.id for model in said if about & (model.based_on or set())]
        if offset >= min(page.total, MOST_MODELS) or not page.items or _late(began):
            return Seen(len(names), told, page.total, tuple(names))


def _late(began: float) -> bool:
    return time.monotonic() - began > LIST_SECONDS

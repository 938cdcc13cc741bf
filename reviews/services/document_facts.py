"""The facts of one document, as a load reads and keeps them."""

import json
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any

from banks.hindsight import Fact, HindsightClient
from banks.models import Bank, Blob, Write
from reviews.curation.ghosts import left_behind
from reviews.models import FactDecision

SHOWN = 200  # of each state; more only where decisions about facts have to be found again
PAGE = 1_000  # of what is read whole
MOST = 20_000
READS = 3  # a list that changes while it is read is read again


@dataclass(frozen=True)
class DocumentFacts:
    """retired: how many are, None when the server cannot tell; whole: these are all of them.

    moved: they changed while they were read, each time; what is missing may be there.
    """

    facts: list[Fact] = field(default_factory=list)
    retired: int | None = None
    whole: bool = False
    moved: bool = False

    def stored(self) -> Blob:
        """What cards show, valid ones first."""
        valid = [fact for fact in self.facts if not fact.is_retired][:SHOWN]
        retired = [fact for fact in self.facts if fact.is_retired][:SHOWN]
        rows = [as_row(fact) for fact in [*valid, *retired]]
        return Blob.objects.store(json.dumps(rows, ensure_ascii=False))


@dataclass(frozen=True)
class _List:
    facts: list[Fact]
    total: int
    whole: bool


def read(client: HindsightClient, *, bank: Bank, document_id: str) -> DocumentFacts:
    """From the bank. All facts where one was retired, or decided about here; else as many as are shown."""
    decided = FactDecision.objects.filter(
        bank=bank, document_hash=Write.hash_of(document_id), verdict__in=FactDecision.STANDING
    ).exists()
    found = DocumentFacts()
    for _ in range(READS):
        found = _read(client, bank, document_id, decided=decided)
        if not found.moved:
            break
    return _without_ghosts(found, left_behind(bank, document_id) if decided else set())


def _without_ghosts(found: DocumentFacts, left: set[str]) -> DocumentFacts:
    """Retired facts that were extracted anew since, and decided about again: nobody can do anything with them."""
    live = [fact for fact in found.facts if not (fact.is_retired and fact.id in left)]
    gone = len(found.facts) - len(live)
    return replace(found, facts=live, retired=found.retired - gone) if gone and found.retired is not None else found


def _read(client: HindsightClient, bank: Bank, document_id: str, *, decided: bool) -> DocumentFacts:
    retired = _list(client, bank, document_id, "invalidated", MOST)
    everything = decided or retired.total > 0
    valid = _list(client, bank, document_id, "valid", MOST if everything else SHOWN)
    facts = [*valid.facts, *retired.facts]
    if any(fact.document_id != document_id for fact in facts):
        return DocumentFacts()  # a server that does not know the filter: it answers with something else
    if not all(fact.is_retired for fact in retired.facts):
        return DocumentFacts(valid.facts)  # it does not tell retired facts from others
    if not everything:
        return DocumentFacts(facts, retired.total, valid.whole)
    if not (valid.whole and retired.whole):
        return DocumentFacts(facts, retired.total, moved=max(valid.total, retired.total) <= MOST)
    # The lists are of two moments: a fact that changed its state in between is in both of them, or in none.
    now = client.list_facts(bank.bank_id, document_id=document_id, state="invalidated", limit=0).total
    if now != retired.total or len({fact.id for fact in facts}) != len(facts):
        return DocumentFacts(facts, retired.total, moved=True)
    return DocumentFacts(facts, retired.total, whole=True)


def _list(client: HindsightClient, bank: Bank, document_id: str, state: str, most: int) -> _List:
    """By the lengths returned."""
    found: dict[str, Fact] = {}
    offset = total = 0
    limit = PAGE if most > PAGE else most
    while len(found) < most:
        page = client.list_facts(bank.bank_id, document_id=document_id, state=state, limit=limit, offset=offset)
        if any(fact.document_id != document_id for fact in page.items):
            return _List(page.items, page.total, whole=False)
        known = len(found)
        found.update((fact.id, fact) for fact in page.items)
        offset += len(page.items)
        total = page.total if page.counted else len(found)
        if page.ends(offset) or len(found) == known:  # nothing new: whatever the total says, the list has ended
            break
    return _List(list(found.values()), total, whole=len(found) >= total)


def as_row(fact: Fact) -> dict[str, Any]:
    row = asdict(fact)
    return {key: value.isoformat() if isinstance(value, datetime) else value for key, value in row.items()}

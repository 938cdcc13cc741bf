"""The facts of one document, as a load reads and keeps them."""

import json
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from banks.hindsight import Fact, HindsightClient
from banks.models import Bank, Blob, Write
from reviews.models import FactDecision

SHOWN = 200  # of each state; more only where decisions about facts have to be found again
MOST = 20_000


@dataclass(frozen=True)
class DocumentFacts:
    """retired: how many are, None when the server cannot tell; whole: these are all of them."""

    facts: list[Fact] = field(default_factory=list)
    retired: int | None = None
    whole: bool = False

    def stored(self) -> Blob:
        """What cards show, valid ones first."""
        valid = [fact for fact in self.facts if not fact.is_retired][:SHOWN]
        retired = [fact for fact in self.facts if fact.is_retired][:SHOWN]
        rows = [_as_json(fact) for fact in [*valid, *retired]]
        return Blob.objects.store(json.dumps(rows, ensure_ascii=False))


def read(client: HindsightClient, *, bank: Bank, document_id: str) -> DocumentFacts:
    """From the bank. All facts where one was retired, or decided about here; else as many as are shown."""
    decided = FactDecision.objects.filter(
        bank=bank, document_hash=Write.hash_of(document_id), verdict__in=FactDecision.STANDING
    ).exists()
    retired, all_retired, total = _list(client, bank, document_id, "invalidated", MOST)
    valid, all_valid, _ = _list(client, bank, document_id, "valid", MOST if decided or total else SHOWN)
    facts = [*valid, *retired]
    if any(fact.document_id != document_id for fact in facts):
        return DocumentFacts()  # a server that does not know the filter: it answers with something else
    return DocumentFacts(facts, total, all_valid and all_retired)


def _list(client: HindsightClient, bank: Bank, document_id: str, state: str, most: int) -> tuple[list[Fact], bool, int]:
    """(facts, whether these are all, how many there are), by the lengths returned."""
    found: dict[str, Fact] = {}
    offset = total = 0
    while len(found) < most:
        page = client.list_facts(bank.bank_id, document_id=document_id, state=state, limit=SHOWN, offset=offset)
        if any(fact.document_id != document_id for fact in page.items):
            return page.items, False, page.total
        known, total = len(found), page.total
        found.update((fact.id, fact) for fact in page.items)
        offset += len(page.items)
        if offset >= total or len(found) == known:  # nothing new: whatever the total says, the list has ended
            break
    return list(found.values()), len(found) >= total, total


def _as_json(fact: Fact) -> dict[str, Any]:
    row = asdict(fact)
    return {key: value.isoformat() if isinstance(value, datetime) else value for key, value in row.items()}

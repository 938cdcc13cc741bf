"""The document of a fact that a row names by its id alone: the row has to wait for its document's slot."""

import json
from typing import Any

from banks.hindsight import Fact, HindsightClient, NotAddressable
from banks.models import Blob, Write
from banks.writes import Misplaced
from banks.writes.kind import document_slot

LISTED = 1_000  # facts of each state; which of several same ones it is, is told among these


def check(client: HindsightClient, write: Write, fact: Fact) -> None:
    """Raises Misplaced when the row does not know the document of its fact, with the facts of that document."""
    if write.document_id or not fact.document_id:
        return
    facts = _facts_beside(client, write, fact)
    raise Misplaced(
        document_id=fact.document_id,
        document_hash=Write.hash_of(fact.document_id),
        slot=document_slot(write.bank, fact.document_id),
        facts_before=Blob.objects.store(json.dumps([_row(each) for each in facts], ensure_ascii=False)),
    )


def _facts_beside(client: HindsightClient, write: Write, fact: Fact) -> list[Fact]:
    found: dict[str, Fact] = {}
    try:
        for state in ("valid", "invalidated"):
            page = client.list_facts(write.bank.bank_id, document_id=fact.document_id, state=state, limit=LISTED)
            found.update((each.id, each) for each in page.items if each.document_id == fact.document_id)
    except NotAddressable:  # a document that can be listed and not asked for
        pass
    found.setdefault(fact.id, fact)
    return list(found.values())


def _row(fact: Fact) -> dict[str, Any]:
    mentioned = fact.mentioned_at.isoformat() if fact.mentioned_at else None
    return {"id": fact.id, "text": fact.text, "type": fact.type, "state": fact.state, "mentioned_at": mentioned}

"""What the tests of the undo stack share: acts of people, rows that have ended, and the top of somebody's stack."""

import json
from typing import Any

from banks.models import Bank, Blob, Write
from banks.writes import registry
from memadmin.accounts.models import User
from reviews.models import FactDecision, ReviewEntry
from reviews.services import decide, facts
from reviews.services.facts import Seen
from reviews.undoing import acts
from reviews.undoing.steps import stack
from tests import factories

FACTS = [
    {"id": "f1", "text": "Ann keeps the ledger.", "type": "world", "state": "valid"},
    {"id": "f2", "text": "Ben reads it.", "type": "world", "state": "valid"},
    {"id": "f3", "text": "Cara left.", "type": "world", "state": "invalidated", "invalidation_reason": "she is back"},
]


def with_facts(bank: Bank, document_id: str = "notes/f.md") -> ReviewEntry:
    blob = Blob.objects.store(json.dumps(FACTS))
    return factories.make_entry(bank, document_id, facts=blob, fact_count=2, retired_count=1)


def act(kind: str, user: User, entry: ReviewEntry, **more: Any) -> Any:
    """approve, delete or edit, on what is there now."""
    entry.refresh_from_db()
    values = {"version": entry.version, "text_hash": entry.text_id, **more}
    return getattr(decide, kind)(user=user, entry_id=entry.pk, **values)


def seen(*ids: str) -> Seen:
    return dict.fromkeys(ids, "")


def retire(user: User, entry: ReviewEntry, *ids: str, ended: bool = True) -> Write:
    write = facts.retire(user=user, entry_id=entry.pk, seen=seen(*ids), reason="it died")
    return end(write, retired=list(ids)) if ended else write


def restore(user: User, entry: ReviewEntry, *ids: str) -> Write:
    return end(facts.restore(user=user, entry_id=entry.pk, seen=seen(*ids)), restored=list(ids))


def end(write: Write, *, state: str = "done", **outcome: object) -> Write:
    """As the door stores the end of a row, and tells who wants to know."""
    Write.objects.filter(pk=write.pk).update(state=state, outcome={"not_called": [], "refused": {}, **outcome})
    write.refresh_from_db()
    registry.tell(write)
    return write


def undo(user: User, name: str = "", **more: Any) -> acts.Undone:
    """The key: the top of the stack as this person sees it."""
    return acts.undo(user=user, name=name or stack(user)[0].name, **more)


def said(user: User) -> list[str]:
    return [step.said for step in stack(user)]


def verdicts(bank: Bank) -> dict[str, str]:
    return dict(FactDecision.objects.filter(bank=bank).values_list("fact_id", "verdict"))

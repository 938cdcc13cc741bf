"""Having a document extracted again: its text stays, all its facts get new ids.

The server names the operation only in its answer, so a lost answer is resolved by the document itself: whether it was
stored anew, and whether its facts are others now. Facts are kept with the row before anything is sent, retired ones
too: the server forgets what was decided about them.
"""

import json
from dataclasses import asdict
from datetime import datetime
from typing import Any

from banks.documents import document_or_none
from banks.hindsight import Document, Fact, HindsightClient, Invalid, NotFound
from banks.models import Blob, Write
from banks.writes import Accepted, ChangedSinceDecided, Done, Kind, NotDone, StillWorking, Stuck, register

PAGE = 1_000
MOST_FACTS = 20_000  # of a document, of each state
READS = 3  # lists that change while they are read are read again
LOOKED_FOR = 3  # facts that were there before, to see whether they still are
RUNNING = ("pending", "processing")
NO_DOCUMENT = "The document is no longer in the bank, so nothing can be extracted from it."
CANNOT = "This server cannot extract a document again. Nothing was changed."
FORGOTTEN = (
    "The server does not know the operation any more, and the facts are the same as before. Nothing was lost; "
    "retry, or discard this."
)
SAME = (
    "The server says it is done, but the facts are the same as before: it extracted nothing anew. Servers up to 0.9.2 "
    "do that while the text is the same. Nothing was lost; edit the text, or update the server."
)


@register
class Reprocess(Kind):
    name, glyph, verb, past, tone = "reprocess", "⟳", "extract again", "extracted again", "pending"

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | None:
        found = document_or_none(client, write.bank.bank_id, write.document_id)
        if found is None:
            raise ChangedSinceDecided(NO_DOCUMENT)
        if write.decided_hash and found.content_hash != write.decided_hash:
            raise ChangedSinceDecided(
                "The document was written again since it was on screen. Nothing was sent; look at it and decide again.",
                {"content_hash": found.content_hash},
            )
        facts = _facts(client, write)
        write.outcome = {**write.outcome, **_noted(found, facts)}
        if facts is not None:
            write.facts_before = Blob.objects.store(json.dumps([_as_json(fact) for fact in facts], ensure_ascii=False))
            Write.objects.filter(pk=write.pk, claim=write.claim).update(facts_before=write.facts_before)
        return None

    def send(self, client: HindsightClient, write: Write) -> Accepted | Done | Stuck:
        try:
            operation = client.reprocess_document(write.bank.bank_id, write.document_id)
        except NotFound as error:
            if error.what == "document":
                raise
            return Stuck(CANNOT)
        except Invalid as error:
            if error.status != 405:
                raise
            return Stuck(CANNOT)
        return Accepted({"operation": operation})

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | StillWorking | Stuck:
        """By the operation; without one (a lost answer, a row that was cleaned up) by the document and its facts."""
        operation_id = write.outcome.get("operation")
        known = client.get_operation(write.bank.bank_id, operation_id) if operation_id else None
        if known is None or known.not_found:
            if (busy := _running(client, write)) is not None:
                return StillWorking({"status": busy})
            return _judge(client, write) or (Stuck(FORGOTTEN) if operation_id else NotDone())
        if not known.terminal:
            told = {"server_says": known.error} if known.error else {}
            return StillWorking({**told, "status": known.status})
        if known.status == "completed" and not known.failed:
            return _judge(client, write) or Stuck(SAME, {"status": known.status})
        errors = [f"{child.id}: {child.error or child.status}" for child in known.children if child.error]
        said = "; ".join(errors) or known.error or known.status
        return Stuck(
            f"The server ended it as {known.status}: {said} Its facts are read again, so the card shows what there is.",
            {"status": known.status, "children": errors},
        )


def kept_facts(write: Write) -> list[Fact]:
    """All facts of the document as they were before a reprocess; empty when they could not be read whole."""
    if "facts_kept" not in write.outcome or write.facts_before is None or write.facts_before.erased:
        return []
    return [Fact.parse(row) for row in json.loads(write.facts_before.text)]


def _facts(client: HindsightClient, write: Write) -> list[Fact] | None:
    """Valid ones, then retired ones; None when these cannot be all, or the server ignores for which was asked."""
    for _ in range(READS):
        valid, retired = _list(client, write, "valid"), _list(client, write, "invalidated")
        if valid is None or retired is None:
            return None
        # The lists are of two moments: what changed its state in between is in both of them, or in none.
        again = client.list_facts(write.bank.bank_id, document_id=write.document_id, state="valid", limit=0).total
        if again == len(valid) and not valid.keys() & retired.keys():
            return [*valid.values(), *retired.values()]
    return None


def _list(client: HindsightClient, write: Write, state: str) -> dict[str, Fact] | None:
    found: dict[str, Fact] = {}
    seen = 0
    while True:
        page = client.list_facts(
            write.bank.bank_id, document_id=write.document_id, state=state, limit=PAGE, offset=seen
        )
        if any(fact.document_id != write.document_id for fact in page.items) or page.total > MOST_FACTS:
            return None
        known = len(found)
        found.update((fact.id, fact) for fact in page.items)
        seen += len(page.items)
        if page.ends(seen) or len(found) == known:
            return found


def _noted(found: Document, facts: list[Fact] | None) -> dict[str, Any]:
    """How it was before, to be compared with how it is then."""
    noted: dict[str, Any] = {
        "facts_before": found.fact_count,
        "updated_before": _stamp(found.updated_at),
        "looked_for": [fact.id for fact in (facts or [])[:LOOKED_FOR]],
    }
    if facts is not None:
        retired = sum(fact.is_retired for fact in facts)
        noted |= {"facts_kept": len(facts), "retired_before": retired, "facts_before": len(facts) - retired}
    return noted


def _judge(client: HindsightClient, write: Write) -> Done | Stuck | None:
    """None when the document and its facts are as they were before."""
    found = document_or_none(client, write.bank.bank_id, write.document_id)
    if found is None:
        return Stuck(f"{NO_DOCUMENT} Its facts as they were are kept with this row.")
    before = write.outcome.get("updated_before")
    if before and before == _stamp(found.updated_at):
        return None
    if any(_is_there(client, write, fact_id) for fact_id in write.outcome.get("looked_for", [])):
        return None
    outcome: dict[str, Any] = {
        "content_hash": found.content_hash,
        "facts": found.fact_count,
        "zero_facts": found.fact_count == 0,
        "status": "completed",
    }
    if write.decided_hash and found.content_hash != write.decided_hash:
        outcome["written_meanwhile"] = True
    return Done(outcome)


def _is_there(client: HindsightClient, write: Write, fact_id: str) -> bool:
    try:
        client.get_fact(write.bank.bank_id, fact_id)
    except NotFound as error:
        if error.what != "fact":
            raise
        return False
    return True


def _running(client: HindsightClient, write: Write) -> str | None:
    """The state of an operation on this document that has not ended, ours or somebody else's; None = there is none."""
    for status in RUNNING:
        page = client.list_operations(write.bank.bank_id, status=status)
        if any(operation.document_id == write.document_id for operation in page.items):
            return status
    return None


def _stamp(moment: datetime | None) -> str:
    return moment.isoformat() if moment else ""


def _as_json(fact: Fact) -> dict[str, Any]:
    return {key: _stamp(value) if isinstance(value, datetime) else value for key, value in asdict(fact).items()}

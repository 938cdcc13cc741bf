"""What a person does to a fact that they found in the list of a bank: the same as on the card of its document.

A fact on the card of a memory goes the card's way. Of any other the document's facts are read first, within seconds and
before anything is stored: a decision about a fact is kept with which of them it is.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F

from banks import access, connections, writes
from banks.fact_kinds import seen_hash
from banks.hindsight import Fact, HindsightClient, HindsightError, NotFound
from banks.models import Bank, Blob, Role, Write
from memadmin.accounts.models import User
from reviews.errors import FactRefused, FactTaken
from reviews.models import ReviewEntry
from reviews.services import document_facts, facts

CALL_SECONDS = 2.0
GONE = "This fact is not in the bank any more; the list on screen was older. Look at it again."


@dataclass(frozen=True)
class Named:
    """A fact as a form names it: where it is said to be, and the hash of the text that was on screen."""

    bank_id: int
    fact_id: str
    document_id: str
    text_hash: str


@dataclass(frozen=True)
class _Found:
    """row: the fact as it is now; stored: all facts of its document."""

    bank: Bank
    document_id: str
    row: dict[str, Any]
    stored: Blob

    @property
    def document_hash(self) -> str:
        return Write.hash_of(self.document_id) if self.document_id else ""


def retire(*, user: User, fact: Named, reason: str, via: Write.Via = Write.Via.WEB) -> Write:
    """The bank forgets the fact and keeps it. 404 / 403 as ever; FactRefused, FactTaken when it is not done."""
    bank = access.get_bank(user, fact.bank_id, Role.REVIEWER)
    if (entry_id := _on_card(bank, fact, "valid")) is not None:
        return facts.retire(user=user, entry_id=entry_id, seen=_seen(fact), reason=reason, via=via)
    reason = facts.checked_reason(reason)
    found = _find(bank, fact)
    if found.row["state"] == "invalidated":
        raise FactRefused("It is retired already.")
    return _record(found, "retire", user=user, via=via, fact=fact, params={"reason": reason})


def restore(*, user: User, fact: Named, via: Write.Via = Write.Via.WEB) -> Write:
    bank = access.get_bank(user, fact.bank_id, Role.REVIEWER)
    if (entry_id := _on_card(bank, fact, "invalidated")) is not None:
        return facts.restore(user=user, entry_id=entry_id, seen=_seen(fact), via=via)
    found = _find(bank, fact)
    if found.row["state"] == "valid":
        raise FactRefused("It is not retired.")
    return _record(found, "restore", user=user, via=via, fact=fact)


def edit(*, user: User, fact: Named, new_text: str, via: Write.Via = Write.Via.WEB) -> Write | None:
    """Another text; None = nothing changed, no call."""
    bank = access.get_bank(user, fact.bank_id, Role.REVIEWER)
    if (entry_id := _on_card(bank, fact, "valid")) is not None:
        named = {"fact_id": fact.fact_id, "text_hash": fact.text_hash}
        return facts.edit(user=user, entry_id=entry_id, new_text=new_text, via=via, **named)
    found = _find(bank, fact)
    if (text := facts.changed_text(new_text, found.row)) is None:
        return None
    texts = {"request": Blob.objects.store(text), "before": Blob.objects.store(found.row["text"])}
    return _record(found, "edit-fact", user=user, via=via, fact=fact, **texts)


def read(bank: Bank, fact_id: str) -> Fact:
    """The fact as it is now. Raises FactRefused with the reason when it cannot be read."""
    with _reading(bank) as client:
        return client.get_fact(bank.bank_id, fact_id)


def _on_card(bank: Bank, fact: Named, state: str) -> int | None:
    """The memory on whose card the fact stands just as it was on screen."""
    entries = ReviewEntry.objects.filter(bank=bank, document_hash=Write.hash_of(fact.document_id), facts__erased=None)
    entry = entries.select_related("facts").first() if fact.document_id else None
    if entry is None or entry.facts is None:
        return None
    row = next((row for row in json.loads(entry.facts.text) if row["id"] == fact.fact_id), None)
    same = row is not None and row["state"] == state and seen_hash(row["text"]) == fact.text_hash
    return entry.pk if same else None


def _find(bank: Bank, fact: Named) -> _Found:
    with _reading(bank) as client:
        found = client.get_fact(bank.bank_id, fact.fact_id)
        if found.is_observation:
            raise FactRefused("An observation is made from facts and follows them: retire or change those.")
        if seen_hash(found.text) != fact.text_hash:
            raise FactTaken("The fact says something else than it did on screen. Nothing was sent; look at it again.")
        return _Found(bank, found.document_id, document_facts.as_row(found), _siblings(client, bank, found))


def _siblings(client: HindsightClient, bank: Bank, fact: Fact) -> Blob:
    """All facts of its document, the fact among them."""
    read = document_facts.read(client, bank=bank, document_id=fact.document_id) if fact.document_id else None
    rows = {each.id: document_facts.as_row(each) for each in (read.facts if read else [])}
    return Blob.objects.store(
        json.dumps(list({fact.id: document_facts.as_row(fact), **rows}.values()), ensure_ascii=False)
    )


def _record(found: _Found, kind: str, *, user: User, via: Write.Via, fact: Named, **more: Any) -> Write:
    params = {"seen": _seen(fact), **more.pop("params", {})}
    with transaction.atomic():
        _hold(found)
        facts.refuse_taken(found.bank.pk, found.document_hash, [fact.fact_id])
        return writes.record(
            kind=kind,
            bank=found.bank,
            via=via,
            actor=user,
            document_id=found.document_id,
            fact_ids=[fact.fact_id],
            facts_before=found.stored,
            params=params,
            **more,
        )


def _hold(found: _Found) -> None:
    """Whoever acts on a fact of this document, here or on its card, waits until the row is stored."""
    entry = ReviewEntry.objects.filter(bank=found.bank, document_hash=found.document_hash)
    if not entry.update(version=F("version")):
        Bank.objects.filter(pk=found.bank.pk).update(name=F("name"))


def _seen(fact: Named) -> dict[str, str]:
    return {fact.fact_id: fact.text_hash}


@contextmanager
def _reading(bank: Bank) -> Iterator[HindsightClient]:
    """A client that does not keep a page waiting; what goes wrong becomes a refusal in words."""
    if connections.paused_until(bank.server):
        raise FactRefused("The server does not answer just now. Nothing was sent; try again in a moment.")
    try:
        with connections.talking_to(bank.server, within=CALL_SECONDS) as client:
            yield client
    except NotFound as error:
        raise FactRefused(GONE if error.what == "fact" else f"{error} Nothing was sent.") from error
    except HindsightError as error:
        raise FactRefused(f"The fact could not be read: {error} Nothing was sent.") from error

"""The kinds of writes about single facts: retire, restore, change the text.

A row may name several facts of one document; they are taken in order, one call each, since servers have no bulk call.
Each fact is read before it is called and after: the outcome lists what was seen, never what was hoped for.
`params["seen"]`: {fact id: sha256 of the text that was on screen}.
"""

import hashlib
import time
from dataclasses import dataclass, field
from typing import Any

from banks import fact_places
from banks.hindsight import Fact, HindsightClient, Invalid, NotFound
from banks.models import Blob, Write
from banks.writes import ChangedSinceDecided, Done, Kind, NotDone, StillWorking, Stuck, register

# While observations are being rebuilt a fact may be away for a moment.
AWAY_PAUSE = 1.5  # seconds
OBSERVATION = "It is an observation, made from other facts: change those, and it follows."
GONE = "It is no longer in the bank."
AWAY = "The server lists it and does not find it: what is made from it is being rebuilt. Retry in a moment."
UNREAD = "The server does not find it, and its document has more facts than could be listed in time. Retry in a moment."
LISTED = 1_000  # facts of a page
LIST_SECONDS = 20.0  # for the lists of one document: a worker may not hang on one row


@dataclass
class _Tally:
    """What became of each fact of a row, in words that the log keeps."""

    changed: list[str] = field(default_factory=list)
    already: list[str] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)

    def found(self, write: Write, fact_id: str) -> None:
        """Files a fact that is in the state: by itself, or by an earlier try of this row."""
        before = write.outcome.get("not_called")
        (self.already if before is None or fact_id in before else self.changed).append(fact_id)

    def outcome(self, write: Write, name: str) -> dict[str, Any]:
        """Together with what earlier tries of the same row have done."""
        before = write.outcome.get(name, [])
        told: dict[str, Any] = {name: [*before, *(each for each in self.changed if each not in before)]}
        told["not_called"] = [each for each in self.already if each not in told[name]]
        return told | {"refused": self.refused}


class _Curating(Kind):
    """Brings facts into one state, in order. The first refusal stops: what follows may build on it."""

    state = ""

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | None:
        tally, todo, away = _Tally(), self._todo(write), list[str]()
        for fact_id in todo:
            fact = _read(client, write, fact_id)
            if fact is None:
                away.append(fact_id)  # `send` asks again, after a pause
                continue
            _unchanged(write, fact)
            if fact.is_observation:
                return self._stopped(write, tally, fact_id, OBSERVATION)
            fact_places.check(client, write, fact)
            if fact.state == self.state:
                tally.found(write, fact_id)
        if len(tally.already) + len(tally.changed) == len(todo):
            return Done(tally.outcome(write, self.past))
        # Stored before the first call: what is in the state later on, and is not in here, this row brought there.
        write.outcome = {"not_called": tally.already, **write.outcome, "away": away}
        return None

    def send(self, client: HindsightClient, write: Write) -> Done | Stuck:
        tally, todo = _Tally(), self._todo(write)
        for fact_id in todo:
            # Of several, those before it may have taken long. A single one was seen by the precheck a moment ago.
            if len(todo) > 1 or write.outcome["away"]:
                fact = _read_patiently(client, write, fact_id)
                if fact is None:
                    return self._stopped(write, tally, fact_id, _absence(client, write, fact_id))
                if fact.state == self.state:
                    tally.found(write, fact_id)
                    continue
            if refused := self._changed(client, write, fact_id):
                return self._stopped(write, tally, fact_id, refused)
            tally.changed.append(fact_id)
        return Done(tally.outcome(write, self.past))

    def _changed(self, client: HindsightClient, write: Write, fact_id: str) -> str:
        """Changes it and looks; why not, in words, '' when it is so."""
        try:
            self._change_patiently(client, write, fact_id)
        except NotFound:
            return _absence(client, write, fact_id)
        except Invalid as refused:
            return refused.detail
        after = _read(client, write, fact_id)
        if after is None or after.state != self.state:
            return "The server said yes, and it is not so."
        return ""

    def change(self, client: HindsightClient, write: Write, fact_id: str) -> None:
        client.patch_fact(write.bank.bank_id, fact_id, state=self.state)

    def _change_patiently(self, client: HindsightClient, write: Write, fact_id: str) -> None:
        try:
            self.change(client, write, fact_id)
        except NotFound:  # a moment ago it was there
            if _read_patiently(client, write, fact_id) is None:
                raise
            self.change(client, write, fact_id)

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | StillWorking | Stuck:
        """Repeating is harmless: what is in the state already is not called."""
        tally = _Tally()
        for fact_id in self._todo(write):
            fact = _read_patiently(client, write, fact_id)
            if fact is None:
                return self._stopped(write, tally, fact_id, _absence(client, write, fact_id))
            if fact.state != self.state:
                return NotDone()
            tally.found(write, fact_id)
        return Done(tally.outcome(write, self.past))

    def _todo(self, write: Write) -> list[str]:
        """What an earlier try of this row has done, and seen done, is not done again: who changed it since meant it."""
        done = write.outcome.get(self.past, [])
        return [fact_id for fact_id in write.fact_ids if fact_id not in done]

    def _stopped(self, write: Write, tally: _Tally, fact_id: str, why: str) -> Stuck:
        tally.refused[fact_id] = why
        outcome = tally.outcome(write, self.past)
        text = f"{self.past.capitalize()} {len(outcome[self.past])} of {len(write.fact_ids)}. {why}"
        return Stuck(text, outcome)


@register
class Retire(_Curating):
    """The bank forgets the fact, and keeps it: it can be restored."""

    name, glyph, verb, past, tone = "retire", "↓", "retire", "retired", "retired"
    state = "invalidated"

    def change(self, client: HindsightClient, write: Write, fact_id: str) -> None:
        reason = write.params.get("reasons", {}).get(fact_id) or write.params.get("reason") or None
        client.patch_fact(write.bank.bank_id, fact_id, state=self.state, reason=reason)


@register
class Restore(_Curating):
    name, glyph, verb, past, tone = "restore", "↑", "restore", "restored", "approved"
    state = "valid"


@register
class EditFact(Kind):
    """Another text for one fact. The server keeps no old text: the row does."""

    name, glyph, verb, past, tone = "edit-fact", "✎", "edit fact", "edited", "pending"

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | None:
        fact = _read_patiently(client, write, write.fact_ids[0])
        if fact is None:
            return Stuck(f"{GONE} Nothing was changed; your text is in this row.")
        if fact.is_observation:
            return Stuck(OBSERVATION)
        if _text(write) == fact.text:
            return Done({"edited": []})
        _unchanged(write, fact)
        if fact.is_retired:
            return Stuck("It is retired. Restore it first; your text is in this row.")
        return None

    def send(self, client: HindsightClient, write: Write) -> Done | Stuck:
        try:
            client.patch_fact(write.bank.bank_id, write.fact_ids[0], text=_text(write))
        except Invalid as refused:
            return Stuck(f"The server refused the text: {refused.detail} It is in this row.")
        found = self.verify(client, write)
        if isinstance(found, Done | Stuck):
            return found
        return Stuck("The server said yes, and the fact has another text. Yours is in this row.")

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | StillWorking | Stuck:
        fact = _read_patiently(client, write, write.fact_ids[0])
        if fact is None:
            return Stuck(f"{GONE} Your text is in this row.")
        return Done({"edited": [fact.id]}) if fact.text == _text(write) else NotDone()


@register
class LetGo(Kind):
    """A person says that an earlier decision about a fact need not stand any more."""

    name, glyph, verb, past, tone = "let-go", "○", "let go", "let go", "none"
    sends = False


def seen_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _text(write: Write) -> str:
    request: Blob | None = write.request
    assert request is not None
    return request.text


def _read(client: HindsightClient, write: Write, fact_id: str) -> Fact | None:
    """The fact, None when the server says that there is none. What says nothing about the fact is an error."""
    try:
        return client.get_fact(write.bank.bank_id, fact_id)
    except NotFound as error:
        if error.what != "fact":
            raise
        return None


def _read_patiently(client: HindsightClient, write: Write, fact_id: str) -> Fact | None:
    """None only when it is away twice, with a pause between."""
    fact = _read(client, write, fact_id)
    if fact is None:
        time.sleep(AWAY_PAUSE)
        fact = _read(client, write, fact_id)
    return fact


def _absence(client: HindsightClient, write: Write, fact_id: str) -> str:
    """Why a fact cannot be read, in words: the lists are the second opinion, to their end."""
    if not write.document_id:
        return GONE  # nothing says which of all facts to list
    until = time.monotonic() + LIST_SECONDS
    for state in ("valid", "invalidated"):
        offset = 0
        while True:
            page = client.list_facts(
                write.bank.bank_id, document_id=write.document_id, state=state, limit=LISTED, offset=offset
            )
            if any(fact.id == fact_id for fact in page.items):
                return AWAY
            offset += len(page.items)
            if page.ends(offset):
                break
            if time.monotonic() > until:
                return UNREAD
    return GONE


def _unchanged(write: Write, fact: Fact) -> None:
    seen = write.params.get("seen", {}).get(fact.id)
    if seen and seen != seen_hash(fact.text):
        raise ChangedSinceDecided(
            "The fact says something else than it did on screen. Nothing was changed; look at it and decide again.",
            {"text": fact.text[:500]},
        )

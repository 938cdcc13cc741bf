"""The kinds of writes about directives: create, edit (on and off too), delete. What was sent is read back.

`params`: `directive`: its id, none before it was created; `name`: what people know it by; `changes`: the fields that
are sent, in the API's words and without the content, which is the row's text; `seen`: a fingerprint of what was on
screen.
The server names a new directive only in its answer, so after a lost answer the list tells: the one that was not there
before and is what was sent.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from banks.hindsight import Directive, HindsightClient, NotFound
from banks.models import Bank, Role, Write
from banks.writes import Accepted, ChangedSinceDecided, Done, Kind, NotDone, StillWorking, Stuck, register
from banks.writes.kind import NO_PARAMS

FIELDS = ("name", "content", "priority", "is_active", "tags")
CALLED = {"name": "name", "content": "text", "priority": "priority", "is_active": "on or off", "tags": "tags"}
GONE = "This directive is no longer in the bank. Nothing was sent; what you wrote is in this row."
CHANGED = "The directive was changed since it was on screen. Nothing was sent; look at it and decide again."
NO_BANK = "This bank is no longer on its server. Nothing was sent; the text is in this row."


class _OnDirective(Kind):
    role = Role.ADMIN

    def slot(
        self, *, bank: Bank, document_id: str, fact_ids: Sequence[str] = (), params: Mapping[str, Any] = NO_PARAMS
    ) -> str:
        """Of one directive; all that are being created share one, or else two could be taken for each other."""
        return hashlib.sha256(f"directive\0{bank.pk}\0{params.get('directive', '')}".encode()).hexdigest()


@register
class CreateDirective(_OnDirective):
    name, glyph, verb, past, tone = "directive-create", "+", "create directive", "created", "approved"

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | None:
        alike = self._alike(client, write)
        if alike is None:
            return Stuck(NO_BANK)
        before = write.outcome.get("alike")
        if before is not None and (made := [each for each in alike if each not in before]):
            return _created(made[0])  # an earlier try came late
        write.outcome = {**write.outcome, **_about(write), "alike": alike if before is None else before}
        return None

    def send(self, client: HindsightClient, write: Write) -> Accepted | Done | Stuck:
        made = client.create_directive(write.bank.bank_id, wanted(write))
        found = _read(client, write, made.id)
        if found is None:
            return Stuck("The server said yes, and the directive is not there. The text is in this row.")
        differs = _differs(found, wanted(write))
        return _not_so(differs, {"directive": made.id}) if differs else _created(made.id)

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | StillWorking | Stuck:
        alike = self._alike(client, write)
        if alike is None:
            return Stuck(NO_BANK)
        made = [each for each in alike if each not in write.outcome.get("alike", [])]
        return _created(made[0]) if made else NotDone()

    def _alike(self, client: HindsightClient, write: Write) -> list[str] | None:
        """The ids of those that are what is wanted; None when there is no such bank."""
        try:
            rows = client.all_directives(write.bank.bank_id)
        except NotFound as error:
            if error.what != "bank":
                raise
            return None
        return [row.id for row in rows if not _differs(row, wanted(write))]


@register
class EditDirective(_OnDirective):
    name, glyph, verb, past, tone = "directive-edit", "✎", "edit directive", "edited", "pending"

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | None:
        found = _read(client, write, _id(write))
        if found is None:
            raise ChangedSinceDecided(GONE)
        write.outcome = {**write.outcome, **_about(write)}
        if not _differs(found, wanted(write)):
            return Done(_said(write))
        if fingerprint(found) != write.params.get("seen"):
            raise ChangedSinceDecided(CHANGED)
        return None

    def send(self, client: HindsightClient, write: Write) -> Accepted | Done | Stuck:
        try:
            client.patch_directive(write.bank.bank_id, _id(write), wanted(write))
        except NotFound as error:
            if error.what != "directive":
                raise
            raise ChangedSinceDecided(GONE) from error
        found = _read(client, write, _id(write))
        if found is None:
            return Stuck("The server said yes, and the directive is not there any more. Your text is in this row.")
        differs = _differs(found, wanted(write))
        return _not_so(differs, {}) if differs else Done(_said(write))

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | StillWorking | Stuck:
        found = _read(client, write, _id(write))
        if found is None:
            raise ChangedSinceDecided(GONE)
        if not _differs(found, wanted(write)):
            return Done(_said(write))
        if fingerprint(found) != write.params.get("seen"):
            raise ChangedSinceDecided(f"No answer came to the change. {CHANGED}")
        return NotDone()


@register
class DeleteDirective(_OnDirective):
    """The server keeps nothing of it; the row keeps its text."""

    name, glyph, verb, past, tone = "directive-delete", "✕", "delete directive", "deleted", "danger"

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | None:
        found = _read(client, write, _id(write))
        write.outcome = {**write.outcome, **_about(write)}
        if found is None:
            return Done({"already_gone": True, "said": "It was gone already."})
        if fingerprint(found) != write.params.get("seen"):
            raise ChangedSinceDecided(CHANGED)
        return None

    def send(self, client: HindsightClient, write: Write) -> Accepted | Done | Stuck:
        try:
            client.delete_directive(write.bank.bank_id, _id(write))
        except NotFound as error:
            if error.what != "directive":
                raise
        if _read(client, write, _id(write)) is not None:
            return Stuck("The server said yes, and the directive is still there.")
        return Done()

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | StillWorking | Stuck:
        return Done() if _read(client, write, _id(write)) is None else NotDone()


def fingerprint(directive: Directive) -> str:
    """Stands for what a person saw of it."""
    return hashlib.sha256(json.dumps(values_of(directive), sort_keys=True).encode()).hexdigest()


def values_of(directive: Directive) -> dict[str, Any]:
    """In the API's words. Tags are a set to servers."""
    return {
        "name": directive.name,
        "content": directive.content,
        "priority": directive.priority,
        "is_active": directive.active,
        "tags": sorted(set(directive.tags)),
    }


def wanted(write: Write) -> dict[str, Any]:
    """The fields that the row sends."""
    text = {"content": write.request.text} if write.request is not None else {}
    return {**write.params.get("changes", {}), **text}


def _differs(found: Directive, values: Mapping[str, Any]) -> list[str]:
    """The fields that are not as wanted."""
    there = values_of(found)
    return [name for name, value in values.items() if there[name] != value]


def _read(client: HindsightClient, write: Write, directive_id: str) -> Directive | None:
    """None when there is none. A missing bank is said by the list alone: without it nothing is known of its parts."""
    try:
        return client.get_directive(write.bank.bank_id, directive_id)
    except NotFound as error:
        if error.what != "directive" or not client.has_bank(write.bank.bank_id):
            raise
        return None


def _id(write: Write) -> str:
    return str(write.params["directive"])


def _about(write: Write) -> dict[str, str]:
    """What lists call it by: they do not read parameters."""
    return {"about": str(write.params.get("name", ""))[:200]}


def _said(write: Write) -> dict[str, Any]:
    changes = write.params.get("changes", {})
    if set(changes) == {"is_active"} and write.request is None:
        return {"said": "on" if changes["is_active"] else "off"}
    return {"said": ", ".join(CALLED[name] for name in FIELDS if name in wanted(write))}


def _created(directive_id: str) -> Done:
    return Done({"directive": directive_id})


def _not_so(names: list[str], outcome: dict[str, Any]) -> Stuck:
    said = ", ".join(CALLED[name] for name in names)
    return Stuck(f"The server said yes, and this is not as it was sent: {said}. Look at it.", outcome)

"""Directives are written through the door. What is there is read first, within seconds: a write is decided on it."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F

from banks import access, writes
from banks.directive_kinds import fingerprint, values_of
from banks.hindsight import Directive
from banks.models import Bank, Blob, Role, Write
from banks.reading import QUICK_SECONDS, Unread, reading
from banks.services.refusal import ChangedMeanwhile, Refusal
from memadmin.accounts.models import User

CHANGED = "The directive is another one now than it was on screen. Nothing was sent; look at it again."
GONE = "This directive is not in the bank any more. Nothing was sent."
BUSY = "Something is under way on this directive. Nothing was sent; when that has ended, try again."


@dataclass(frozen=True)
class Named:
    """A directive as a form names it, with the fingerprint of what was on screen."""

    bank_id: int
    directive_id: str
    seen: str


def create(*, user: User, bank_id: int, form: UUID, values: dict[str, Any], via: Write.Via = Write.Via.WEB) -> Write:
    """`values`: all fields in the API's words; `form`: of two posts of one form the second finds the row of the first.

    404 / 403 as `access.get_bank` for admins. Refusal.
    """
    bank = access.get_bank(user, bank_id, Role.ADMIN)
    sent = Write.objects.filter(operation_id=form, bank=bank, kind="directive-create").first()
    if sent is not None:
        return sent
    changes = {name: value for name, value in values.items() if name != "content"}
    params = {"name": values["name"], "changes": changes}
    text = values["content"]
    try:
        return _record("directive-create", bank, user=user, via=via, params=params, request=text, operation_id=form)
    except IntegrityError as error:  # the same form at the same moment, or one that is another row's
        raise Refusal("This form was sent before. Look at the list, and begin a new one.") from error


def edit(*, user: User, named: Named, values: dict[str, Any], via: Write.Via = Write.Via.WEB) -> Write | None:
    """Sends the fields that differ from what is there; None = none does, no call. Refusal, ChangedMeanwhile."""
    bank, found = _find(user, named)
    there = values_of(found)
    changes = {name: value for name, value in values.items() if value != there[name]}
    if changes.get("content") == found.content.replace("\r\n", "\n"):
        del changes["content"]  # browsers send other line ends than it has
    if not changes:
        return None
    before = found.content if "content" in changes else None
    text = changes.pop("content", None)
    params = {**_params(found), "changes": changes, "was": {name: there[name] for name in changes}}
    return _record("directive-edit", bank, user=user, via=via, params=params, request=text, before=before)


def switch(*, user: User, named: Named, on: bool, via: Write.Via = Write.Via.WEB) -> Write | None:
    return edit(user=user, named=named, values={"is_active": on}, via=via)


def delete(*, user: User, named: Named, via: Write.Via = Write.Via.WEB) -> Write:
    """The row keeps its text and the rest of it."""
    bank, found = _find(user, named)
    was = {name: value for name, value in values_of(found).items() if name != "content"}
    params = {**_params(found), "was": was}
    return _record("directive-delete", bank, user=user, via=via, params=params, before=found.content)


def read(bank: Bank, directive_id: str) -> Directive:
    """As it is now. Raises Unread."""
    with reading(bank, within=QUICK_SECONDS) as client:
        return client.get_directive(bank.bank_id, checked_id(directive_id))


def checked_id(given: str) -> str:
    """Servers fail on what is no UUID. Raises Unread."""
    try:
        return str(UUID(given))
    except ValueError:
        raise Unread("missing", "What was asked for is no id of a directive.") from None


def _find(user: User, named: Named) -> tuple[Bank, Directive]:
    bank = access.get_bank(user, named.bank_id, Role.ADMIN)
    try:
        found = read(bank, named.directive_id)
    except Unread as unread:
        raise Refusal(GONE if unread.face == "missing" else f"{unread.sentence} Nothing was sent.") from unread
    if fingerprint(found) != named.seen:
        raise ChangedMeanwhile(CHANGED)
    return bank, found


def _params(found: Directive) -> dict[str, Any]:
    return {"directive": found.id, "name": found.name[:200], "seen": fingerprint(found)}


def _record(
    kind: str,
    bank: Bank,
    *,
    user: User,
    via: Write.Via,
    params: dict[str, Any],
    request: str | None = None,
    before: str | None = None,
    operation_id: UUID | None = None,
) -> Write:
    given = {"request": request, "before": before}
    texts: dict[str, Any] = {name: Blob.objects.store(text) for name, text in given.items() if text}
    with transaction.atomic():
        if "directive" in params:
            _refuse_busy(kind, bank, params)
        named: dict[str, Any] = {"kind": kind, "bank": bank, "params": params, "operation_id": operation_id}
        return writes.record(actor=user, via=via, **named, **texts)


def _refuse_busy(kind: str, bank: Bank, params: dict[str, Any]) -> None:
    """Two clicks are one act."""
    Bank.objects.filter(pk=bank.pk).update(name=F("name"))  # whoever else decides on it waits until the row is stored
    slot = writes.get(kind).slot(bank=bank, document_id="", params=params)
    if Write.objects.filter(slot=slot, state__in=Write.OPEN).exists():
        raise ChangedMeanwhile(BUSY)

"""Refresh, delete, put back, pin and unpin: one write each. What is decided is read first, within seconds."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.db import IntegrityError, transaction
from django.utils import timezone

from banks import access, selectors_models, writes
from banks.hindsight import MentalModel, NotAddressable, check_model_id
from banks.mental.looking import seen_of
from banks.model_kinds import KINDS
from banks.models import Bank, Blob, ModelPin, Role, Write
from banks.reading import Unread
from banks.selectors_models import ModelRow
from banks.services.refusal import ChangedMeanwhile, Refusal
from memadmin.accounts.models import User

MOST_REFRESHED = 20  # of one bank by one act
UNDER_WAY = "Something is being done about this model already. Look at the write log."
OTHER = "The model is not what it was on screen. Nothing was done; look at it again."
PINNED = "It is pinned already. Unpin it first, or restore an earlier text."
NOT_PINNED = "It is not pinned (any more)."
NO_TEXT = "It has no text that could be pinned."
NO_VERSION = "The server does not keep this version any more. Nothing was pinned."
NOT_DELETED = "Only a delete that was done can be answered by putting the model back."
ERASED = "Our copy of what it was made of was erased."


def refresh(*, user: User, bank: Bank, model_id: str, name: str = "", via: Write.Via = Write.Via.WEB) -> Write:
    """Raises Http404 and NotEnough as `access.require`, Refusal while another act on it is under way.

    The model is not read first, so an id that no call can name is refused here: it would wait for a person for ever.
    """
    access.require(user, bank, Role.REVIEWER)
    try:
        check_model_id(model_id)
    except NotAddressable as error:
        raise Refusal(f"No call can name this model. {error.detail}") from error
    with transaction.atomic():
        _check_free(bank, [model_id])
        params = {"model": model_id, "name": name}
        return writes.record(kind="model-refresh", bank=bank, via=via, actor=user, params=params)


def due(rows: Sequence[ModelRow]) -> list[ModelRow]:
    """Those that their server refreshes by itself and that are free; stale ones first. The rows need their content."""
    found = [row for row in rows if row.addressable and row.by_itself and not (row.pin or row.write or row.writing)]
    return sorted(found, key=lambda row: row.model.stale is False)


@transaction.atomic
def refresh_all(*, user: User, bank: Bank, rows: Sequence[ModelRow], via: Write.Via = Write.Via.WEB) -> UUID:
    """One write for each, of which the door sends one after the other. Returns their group."""
    access.require(user, bank, Role.REVIEWER)
    _check_free(bank, [row.model.id for row in rows])
    group = uuid4()
    for row in rows[:MOST_REFRESHED]:
        params = {"model": row.model.id, "name": row.model.name}
        writes.record(kind="model-refresh", bank=bank, via=via, actor=user, params=params, group=group)
    return group


def delete(*, user: User, bank: Bank, model_id: str, seen: str, via: Write.Via = Write.Via.WEB) -> Write:
    """`seen`: of `looking.seen_of`, as it was on screen. The row keeps all that it takes to make it again."""
    access.require(user, bank, Role.ADMIN)
    model = _read(bank, model_id, seen)
    params = {
        "model": model.id,
        "name": model.name,
        "question": model.source_query or "",
        "tags": model.tags,
        "max_tokens": model.max_tokens,
        "trigger": dict(model.trigger or {}),
    }
    text = Blob.objects.store(model.content) if model.content else None
    with transaction.atomic():
        _check_free(bank, [model_id])
        return writes.record(
            kind="model-delete", bank=bank, via=via, actor=user, before=text, decided_hash=seen, params=params
        )


def put_back(*, user: User, write: Write, via: Write.Via = Write.Via.WEB) -> Write:
    """What a delete removed, under its old id. Its text is written anew. A second click finds the first one's row."""
    access.require(user, write.bank, Role.ADMIN)
    if write.kind != "model-delete" or write.state != Write.State.DONE:
        raise Refusal(NOT_DELETED)
    params = {name: value for name, value in write.params.items() if name != "question"}
    question = str(write.params.get("question") or "")
    if not question:
        raise Refusal(ERASED)
    with transaction.atomic():
        before = Write.objects.filter(kind="model-put-back", undo_of=write).exclude(state=Write.State.CANCELLED).first()
        if before is not None:
            return before
        _check_free(write.bank, [str(params["model"])])
        stored = Blob.objects.store(question)
        about: dict[str, Any] = {"request": stored, "params": params, "undo_of": write}
        return writes.record(kind="model-put-back", bank=write.bank, via=via, actor=user, **about)


def pin(
    *, user: User, bank: Bank, model_id: str, seen: str = "", version: str = "", via: Write.Via = Write.Via.WEB
) -> Write:
    """Keeps its text as it was on screen (`seen`), or an earlier one (`version`: its hash), and stops its refreshes.

    An earlier text takes the place of one that is pinned.
    """
    access.require(user, bank, Role.ADMIN)
    text: str | None
    at: datetime | None = None
    if version:
        text, at = _version(bank, model_id, version)
    else:
        text = _read(bank, model_id, seen).content
    if not text:
        raise Refusal(NO_TEXT)
    blob = Blob.objects.store(text)
    key = ModelPin.hash_of(model_id)
    with transaction.atomic():
        _check_free(bank, [model_id])
        write = writes.record(
            kind="model-pin", bank=bank, via=via, actor=user, after=blob, params={"model": model_id, "name": ""}
        )
        about: dict[str, Any] = {"user": user, "user_name": user.display_name, "version_at": at}
        if version:
            about["automatic"] = _replaced(bank, key)
        try:
            with transaction.atomic():
                ModelPin.objects.create(bank=bank, model_id=model_id, model_hash=key, text=blob, **about)
        except IntegrityError as error:
            raise Refusal(PINNED) from error
        return write


def _replaced(bank: Bank, key: str) -> dict[str, Any]:
    """Ends the pin that holds. Returns what refreshed the model before it, which the bank does not tell any more."""
    pin = ModelPin.objects.filter(bank=bank, model_hash=key, ended=None).first()
    if pin is None or not ModelPin.objects.filter(pk=pin.pk, ended=None).update(ended=timezone.now()):
        return {}
    return dict(pin.automatic)


@transaction.atomic
def unpin(*, user: User, bank: Bank, model_id: str, via: Write.Via = Write.Via.WEB) -> Write:
    """Ends the pin and lets the server refresh the model as it did before."""
    access.require(user, bank, Role.ADMIN)
    pin = ModelPin.objects.filter(bank=bank, model_hash=ModelPin.hash_of(model_id), ended=None).first()
    if pin is None or not ModelPin.objects.filter(pk=pin.pk, ended=None).update(ended=timezone.now()):
        raise Refusal(NOT_PINNED)
    _check_free(bank, [model_id])
    params = {"model": model_id, "name": "", "automatic": pin.automatic}
    return writes.record(kind="model-unpin", bank=bank, via=via, actor=user, before=pin.text, params=params)


def texts_of(bank: Bank) -> dict[str, str]:
    """{id of a model: its pinned text}: what agents who ask us get instead of the server's."""
    pins = selectors_models.pins_of(bank).values()
    return {pin.model_id: pin.text.text for pin in pins if not pin.text.erased}


@writes.after("model-pin")
def _note_automatic(write: Write) -> None:
    """What the server did by itself until then, for an unpin to give back. A pin before this one has it already."""
    if write.state == Write.State.DONE and write.outcome.get("automatic"):
        pins = ModelPin.objects.filter(bank=write.bank, model_hash=ModelPin.hash_of(str(write.params["model"])))
        pins.filter(ended=None).update(automatic=write.outcome["automatic"])


@writes.after("model-delete")
def _end_pin(write: Write) -> None:
    if write.state == Write.State.DONE:
        pins = ModelPin.objects.filter(bank=write.bank, model_hash=ModelPin.hash_of(str(write.params["model"])))
        pins.filter(ended=None).update(ended=timezone.now())


@writes.after("bank-delete")
def _end_pins(write: Write) -> None:
    """Its models went with it. The next bank of its id has others, also where their ids are the same."""
    if write.state == Write.State.DONE:
        ModelPin.objects.filter(bank=write.bank_id, ended=None).update(ended=timezone.now())


def _read(bank: Bank, model_id: str, seen: str) -> MentalModel:
    found = selectors_models.read(bank, model_id)
    if found.row is None:
        raise Refusal(f"It could not be read. {found.why} Nothing was done.")
    if seen_of(found.row.model) != seen:
        raise ChangedMeanwhile(OTHER)
    return found.row.model


def _version(bank: Bank, model_id: str, key: str) -> tuple[str, datetime | None]:
    try:
        found = selectors_models.history_of(bank, model_id)
    except Unread as unread:
        raise Refusal(f"Its history could not be read. {unread.sentence} Nothing was done.") from unread
    version = next((each for each in found if each.key == key), None)
    if version is None or version.before is None:
        raise Refusal(NO_VERSION)
    return version.before, version.at


def _check_free(bank: Bank, model_ids: Sequence[str]) -> None:
    """Inside the transaction of the act. Of two at once, the door still sends one after the other."""
    rows = Write.objects.filter(bank=bank, kind__in=KINDS, state__in=Write.OPEN).values_list("params", flat=True)
    if {str(params.get("model")) for params in rows} & set(model_ids):
        raise Refusal(UNDER_WAY)

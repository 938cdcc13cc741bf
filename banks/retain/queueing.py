"""Taking memories in: rows first, and nobody waits for a bank."""

import hashlib
import json
import uuid
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from banks import access, hooks
from banks.models import Bank, Blob, RetainItem, Role, Write
from banks.retain import flush, person, scope
from banks.retain.params import Item, Problem, Refused
from banks.retain.scope import Scoped
from memadmin.accounts.models import User
from memadmin.rows import insert

OURS = "memadmin-"  # what document ids of our making begin with
SESSION = "session_id"
# By the ORM, building it takes longer than all that the database does.
_NOW = "SELECT hold, kind FROM banks_bank WHERE id = %s"


class BankClosed(Exception):
    """The bank takes no memories; nothing was stored. str() says why."""


class OtherRequest(Exception):
    """The operation id stands for another request; the server would drop this one without a word. Nothing stored."""

    def __init__(self) -> None:
        super().__init__("This operation_id was used for another request. Nothing was stored; use a new one.")


@dataclass(frozen=True)
class Queued:
    """What was stored. `again`: by an earlier, equal request under the same operation id."""

    items: list[RetainItem]
    notes: list[str] = field(default_factory=list)
    again: bool = False

    @property
    def count(self) -> int:
        return len(self.items)

    @property
    def held(self) -> bool:
        """They wait for a reviewer, or did when they came."""
        return any(item.held for item in self.items)

    @property
    def message(self) -> str:
        what = "held for review" if self.held else "queued"
        return f"{self.count} {'memory' if self.count == 1 else 'memories'} {what}."

    @property
    def said(self) -> str:
        """For people: with what comes next."""
        sent, them = ("It is sent", "it") if self.count == 1 else ("They are sent", "them")
        return f"{self.message} {sent} {f'once somebody approves {them}' if self.held else 'to the bank soon'}."


@dataclass(frozen=True)
class Planned:
    """A request that may be stored. `rows`: as they will be, but for their texts; `fingerprint`: of the whole."""

    scoped: Scoped
    items: Sequence[Item]
    rows: list[RetainItem]
    fingerprint: str
    about: dict[str, Any]

    @property
    def bank(self) -> Bank:
        return self.scoped.bank

    def check(self, bank: Bank) -> None:
        """Raises Refused where this request may not write into its bank, as that is now."""
        person.check(bank, self.items, **self.about)


def plan(
    *,
    user: User,
    bank: Bank,
    items: Sequence[Item],
    via: Write.Via,
    mode: str = scope.GLOBAL,
    project: str = "",
    session_id: str = "",
    document_tags: Sequence[str] = (),
    operation_id: uuid.UUID | None = None,
    user_bank: bool = False,
    seed: uuid.UUID | None = None,
) -> Planned:
    """What `enqueue` would store; nothing is. Raises as it does, but for OtherRequest and for what `check` finds.

    `seed`: the ids of documents without one are made from it, so that the same request has the same ones.
    """
    access.require(user, bank, Role.REVIEWER)
    scoped = scope.resolve(user=user, bank=bank, mode=mode, project=project)
    require_open(scoped.bank)
    fingerprint = ""
    if operation_id is not None:
        _one_operation(items)
    if operation_id is not None or seed is not None:
        fingerprint = _fingerprint(scoped, items, session_id, document_tags, *([user_bank] if user_bank else []))
    same = {
        "via": via,
        "document_tags": list(document_tags),
        "user_bank": user_bank,
        "operation_id": operation_id,
        "fingerprint": fingerprint if operation_id is not None else "",
    }
    rows = [
        _row(user, scoped, item, session_id, _made(seed, number), position=number, **same)
        for number, item in enumerate(items)
    ]
    about = {"named": user_bank, "via": via, "mode": mode, "project": project, "document_tags": document_tags}
    return Planned(scoped, items, rows, fingerprint, about)


def enqueue(
    *,
    user: User,
    bank: Bank,
    items: Sequence[Item],
    via: Write.Via,
    mode: str = scope.GLOBAL,
    project: str = "",
    session_id: str = "",
    document_tags: Sequence[str] = (),
    operation_id: uuid.UUID | None = None,
    user_bank: bool = False,
) -> Queued:
    """Stores these memories, all or none, and sees to it that they are sent soon. Needs a reviewer of the bank.

    `mode`: how the project is told apart (banks.retain.scope). `session_id` goes into the metadata of items without
    one. `operation_id`: this request is one operation of that id, and repeating it changes nothing. `user_bank`: a
    person's bank is meant; without it none is written to.
    Raises Refused, BankClosed, OtherRequest; 404 and 403 as every access does.
    """
    planned = plan(
        user=user,
        bank=bank,
        items=items,
        via=via,
        mode=mode,
        project=project,
        session_id=session_id,
        document_tags=document_tags,
        operation_id=operation_id,
        user_bank=user_bank,
    )
    return store(planned)


def store(planned: Planned) -> Queued:
    """Stores what was planned, all or none. Raises Refused and OtherRequest."""
    bank, rows, items = planned.bank, planned.rows, planned.items
    operation_id = rows[0].operation_id
    if operation_id is not None and (earlier := _earlier(operation_id, planned.fingerprint)) is not None:
        return earlier
    try:
        with transaction.atomic():
            _keep_texts(rows, items)
            now = _alone_with(bank)
            planned.check(now)
            notes = scope.note_label(planned.scoped)
            if now.hold:
                _hold(rows, items)
            else:
                insert(rows)
                transaction.on_commit(partial(flush.expect, bank.pk, rows[0].pk))
    except IntegrityError:  # the same request at the same moment
        if operation_id is None or (earlier := _earlier(operation_id, planned.fingerprint)) is None:
            raise
        return earlier
    return Queued(rows, [*notes, *notes_of(bank, items)])


def _keep_texts(rows: list[RetainItem], items: Sequence[Item]) -> None:
    """Before any other row, as everybody does it: two that have texts in common must not wait for each other."""
    keys = Blob.objects.store_many(item.content for item in items)
    for row, item in zip(rows, items, strict=True):
        row.content_id = keys[item.content]


def _alone_with(bank: Bank) -> Bank:
    """The bank, held or a person's as it is now. Until this ends nobody else stores into it, nor makes it a person's.

    The numbers of the rows say who comes first. PostgreSQL would give two requests every other one; with two documents
    in common each would then wait for the other, for ever. SQLite has one writer at a time, which is this one.
    """
    lock = " FOR NO KEY UPDATE" if connection.features.has_select_for_no_key_update else ""
    with connection.cursor() as cursor:
        cursor.execute(_NOW + lock, [bank.pk])
        rows = cursor.fetchall()
    if not rows:
        raise Bank.DoesNotExist
    now = copy(bank)
    now.hold, now.kind = bool(rows[0][0]), rows[0][1]
    return now


def _hold(rows: list[RetainItem], items: Sequence[Item]) -> None:
    """Nothing is sent before somebody has approved it."""
    for row in rows:
        row.state, row.held = RetainItem.State.HELD, True
    insert(rows)
    hooks.hold([(row, item.content) for row, item in zip(rows, items, strict=True)])


def require_open(bank: Bank) -> None:
    """Raises BankClosed."""
    if not bank.addressable:
        raise BankClosed("No server can address this bank: its id has a slash. Nothing was stored.")
    if bank.gone_since is not None:
        raise BankClosed(
            f"This bank is not on its server any more, since {bank.gone_since:%Y-%m-%d %H:%M} UTC. Nothing was stored, "
            "since sending it would create an empty bank of that name."
        )


def notes_of(bank: Bank, items: Sequence[Item]) -> list[str]:
    """What whoever sent them should know."""
    notes = [f"items[{number}]: {note}" for number, item in enumerate(items) for note in item.notes]
    if bank.server.writes_paused:
        notes.append("Writes to this server are paused: they wait, and are sent when it goes on.")
    return notes


def _one_operation(items: Sequence[Item]) -> None:
    """One operation is one request to the server: what would have to be sent in parts cannot have one id."""
    if sum(len(item.content.encode()) for item in items) > flush.MOST_BYTES:
        text = f"A request with an operation_id has at most {flush.MOST_BYTES:,} bytes of content."
        raise Refused([Problem(None, "operation_id", text, too_large=True)])
    names = [item.document_id for item in items if item.document_id]
    if len(set(names)) < len(names):
        text = "A request with an operation_id takes each document once: they are sent one after the other."
        raise Refused([Problem(None, "operation_id", text)])
    if len({(item.strategy, item.update_mode) for item in items}) > 1:
        text = "A request with an operation_id has one strategy and one update_mode: each is sent by itself."
        raise Refused([Problem(None, "operation_id", text)])


def _fingerprint(scoped: Scoped, items: Sequence[Item], *given: Any) -> str:
    said = [[getattr(item, name) for name in Item.__slots__ if name != "notes"] for item in items]
    whole = json.dumps([scoped.bank.pk, scoped.tags, scoped.project, given, said], sort_keys=True, default=list)
    return hashlib.sha256(whole.encode()).hexdigest()


def _earlier(operation_id: uuid.UUID, fingerprint: str) -> Queued | None:
    rows = list(RetainItem.objects.filter(operation_id=operation_id).order_by("position"))
    if rows and rows[0].fingerprint == fingerprint:
        return Queued(rows, again=True)
    if rows or Write.objects.filter(operation_id=operation_id).exists():
        raise OtherRequest
    return None


def _made(seed: uuid.UUID | None, position: int) -> str:
    return f"{OURS}{uuid.uuid5(seed, str(position)) if seed else uuid.uuid4()}"


def _row(user: User, scoped: Scoped, item: Item, session_id: str, made: str, **more: Any) -> RetainItem:
    now = timezone.now()
    document_id = item.document_id or made
    context = scoped.bank.retain_context or None if item.context is None else item.context
    metadata = {**({SESSION: session_id} if session_id else {}), **item.metadata}
    return RetainItem(
        bank=scoped.bank,
        actor=user,
        actor_name=user.display_name,
        token=user.token,
        size=len(item.content.encode()),
        document_id=document_id,
        document_hash=Write.hash_of(document_id),
        named=bool(item.document_id),
        update_mode=item.update_mode,
        # When it was said, not when a worker came to it: a bank that is away must not shift "last Monday".
        timestamp=item.timestamp or now.isoformat(),
        context=context,
        metadata=metadata,
        entities=None if item.entities is None else [dict(entity) for entity in item.entities],
        resolve_entities=item.resolve_entities,
        tags=list(dict.fromkeys([*item.tags, *scoped.tags])),
        observation_scopes=item.observation_scopes,
        strategy=item.strategy,
        project=scoped.project,
        queued_at=now,
        not_before=flush.due_from(now),
        **more,
    )

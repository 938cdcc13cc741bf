from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.utils import timezone

from banks import log_index
from banks.models import Bank, Blob, Write
from banks.writes import registry
from banks.writes.dispatch import dispatch_on_commit
from memadmin.accounts.models import User


def record(
    *,
    kind: str,
    bank: Bank,
    via: Write.Via,
    actor: User | None = None,
    document_id: str = "",
    fact_ids: Sequence[str] = (),
    request: Blob | None = None,
    before: Blob | None = None,
    after: Blob | None = None,
    facts_before: Blob | None = None,
    decided_hash: str = "",
    decided_created: datetime | None = None,
    params: dict[str, Any] | None = None,
    not_before: datetime | None = None,
    undo_of: Write | None = None,
    group: UUID | None = None,
    occurred_at: datetime | None = None,
    operation_id: UUID | None = None,
) -> Write:
    """Stores one row of the write log and, when its kind sends something, tells a worker after the commit.

    Must run inside the transaction of the decision it belongs to: both are stored, or neither.
    A row whose kind sends nothing (approve, undo) is done at once. `not_before` is the end of an undo window.
    `operation_id`: where somebody else has given it its name; else it gets one of its own.
    """
    if not transaction.get_connection().in_atomic_block:
        raise RuntimeError("record() belongs into the transaction of its decision")
    rule = registry.get(kind)
    now = timezone.now()
    write = Write.objects.create(
        kind=kind,
        bank=bank,
        slot=rule.slot(bank=bank, document_id=document_id, fact_ids=fact_ids, params=params or {}),
        actor=actor,
        actor_name=actor.display_name if actor else "",
        token=actor.token if actor else None,
        via=via,
        document_id=document_id,
        document_hash=Write.hash_of(document_id) if document_id else "",
        fact_ids=list(fact_ids),
        params=params or {},
        request=request,
        before=before,
        after=after,
        facts_before=facts_before,
        decided_hash=decided_hash,
        decided_created=decided_created,
        group=group,
        operation_id=operation_id or uuid4(),
        undo_of=undo_of,
        state=Write.State.QUEUED if rule.sends else Write.State.DONE,
        not_before=not_before or now,
        occurred_at=occurred_at or now,
        finished=None if rule.sends else now,
    )
    log_index.note([(write.pk, write.fact_ids)])
    if rule.sends and write.not_before <= now:
        dispatch_on_commit(write.pk)
    return write

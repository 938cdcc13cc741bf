"""How memories that a bank's policy holds back come to be decided on, and what they become once the bank has them."""

import hashlib
from collections.abc import Sequence
from typing import Any, TypeAlias

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils import timezone

from banks import hooks, writes
from banks.models import Blob, RetainItem, Write
from banks.retain import holding
from reviews import search
from reviews.models import Decision, Mark, ReviewEntry, Seen
from reviews.services.enqueue import QUEUE, session_of
from reviews.services.recording import decided
from reviews.services.sight import first_sight
from reviews.text import project_of

State: TypeAlias = ReviewEntry.State
Load: TypeAlias = ReviewEntry.Load
Verdict: TypeAlias = Decision.Verdict
Via: TypeAlias = Decision.Via

REPLACED = "A newer text of the whole document came while this was held; it was never sent."


def hold(items: Sequence[tuple[RetainItem, str]]) -> None:
    """An entry for each, shown from our own row: no bank is asked. Belongs into the transaction that stores them.

    A text of a whole document takes the place of what is held of it: it would replace that a moment later anyway.
    """
    for item, text in items:
        before = _take_the_place(item, text)
        if before is None:
            entry = ReviewEntry.objects.create(
                bank=item.bank, document_id=item.document_id, document_hash=_key(item), **_values(item, text)
            )
            search.index(entry_id=entry.pk, document_id=item.document_id, text=text)
        writes.record(
            kind="hold",
            bank=item.bank,
            via=Write.Via(item.via),
            actor=item.actor,
            document_id=item.document_id,
            request=Blob.known_as(item.content_id),
            before=Blob.known_as(before),
        )


def _key(item: RetainItem) -> str:
    return hashlib.sha256(f"held\0{item.pk}".encode()).hexdigest()


def _values(item: RetainItem, text: str) -> dict[str, Any]:
    now = timezone.now()
    return {
        "item": item,
        "state": State.HELD,
        "project": project_of(item.project),
        "session": session_of(item.metadata),
        "sources": [QUEUE],
        "enqueued_at": item.queued_at,
        "age_from": item.queued_at,
        "first_imported_at": now,
        "expires_at": None,
        "load_state": Load.LOADED,
        "load_after": None,
        "loaded_at": now,
        "text_id": item.content_id,
        "text_size": item.size,
        "text_by": None,
        "tags": item.tags,
        **first_sight(text),
    }


def _take_the_place(item: RetainItem, text: str) -> str | None:
    """The hash of the text in whose place it is, None where nothing was held that it replaces."""
    if item.update_mode == RetainItem.Mode.APPEND:
        return None
    older = ReviewEntry.objects.select_related("item", "bank").filter(item__in=holding.earlier(item), state=State.HELD)
    taken: str | None = None
    for entry in older.order_by("pk"):
        assert entry.item is not None
        same = ReviewEntry.objects.filter(pk=entry.pk, state=State.HELD, version=entry.version)
        if taken is None and entry.item.update_mode == RetainItem.Mode.REPLACE:
            if not same.update(version=F("version") + 1, **_values(item, text)):
                continue  # somebody has just decided on it
            taken = entry.text_id
            search.index(entry_id=entry.pk, document_id=item.document_id, text=text)
        elif not _close(entry, same.filter(item=entry.item)):
            continue
        holding.drop(entry.item, REPLACED)
    return taken


def _close(entry: ReviewEntry, same: Any) -> bool:
    closed = {"decided_by": "", "decided_via": Via.HOUSEKEEPING, "decided_at": timezone.now()}
    if not same.update(state=State.REJECTED, version=F("version") + 1, **closed):
        return False
    write = writes.record(
        kind="reject",
        bank=entry.bank,
        via=Write.Via.HOUSEKEEPING,
        document_id=entry.document_id,
        before=Blob.known_as(entry.text_id),
        params={"note": REPLACED},
    )
    decided(entry, Verdict.REJECTED, user=None, write=write, decided_via=Via.HOUSEKEEPING, note=REPLACED)
    return True


def landed(write: Write) -> None:
    """What was approved before it was sent is in the bank, and stays approved. Idempotent; as `arrivals.arrived`."""
    entries = ReviewEntry.objects.select_related("bank", "item").filter(
        item__write=write, item__seen_at__isnull=False, state=State.APPROVED
    )
    for entry in entries.order_by("pk"):
        item = entry.item
        assert item is not None
        documents = ReviewEntry.objects.filter(bank=entry.bank, document_hash=item.document_hash)
        document = documents.first()
        if document is None and _becomes_the_document(entry, item):
            continue
        document = document or documents.get()
        if item.update_mode == RetainItem.Mode.APPEND:
            _read_again(document)
        else:
            _join(entry, document, item)


def _becomes_the_document(entry: ReviewEntry, item: RetainItem) -> bool:
    """False when a look at the bank was faster, and the document has a row of its own by now."""
    changes: dict[str, Any] = {"content_hash": item.content_id}  # the server's hash of a text is ours
    if item.update_mode == RetainItem.Mode.APPEND:
        # What was there before belongs to it: the text is another one, and comes with the next look.
        changes = {"text": None, "load_state": Load.LOADING}
    same = ReviewEntry.objects.filter(pk=entry.pk, item=item)
    try:
        with transaction.atomic():
            same.update(item=None, document_hash=item.document_hash, **_WANTED, load_after=timezone.now(), **changes)
    except IntegrityError:
        return False
    return True


def _read_again(document: ReviewEntry) -> None:
    ReviewEntry.objects.filter(pk=document.pk).update(**_WANTED, load_after=timezone.now())


_WANTED = {"load_attempts": 0, "load_claimed_until": None}
_TAKEN_OVER = (
    *("text", "text_size", "text_by", "preview", "marks", "danger", "risk", "screened"),
    *("decided_by", "decided_via", "decided_at", "session", "loaded_at"),
)


def _join(entry: ReviewEntry, document: ReviewEntry, item: RetainItem) -> None:
    """The document's own row takes over the text, the decision on it, and who has seen it: a document has one row.

    Whatever was decided about an earlier text of it: the bank has this one.
    """
    ReviewEntry.objects.filter(pk=document.pk).update(
        state=State.APPROVED,
        version=F("version") + 1,
        reopened_because="",
        expires_at=None,
        live_until=None,
        project=document.project or entry.project,
        sources=list(dict.fromkeys([*document.sources, QUEUE])),
        content_hash=item.content_id,
        load_state=Load.LOADED,
        load_error="",
        lease_user=None,
        lease_until=None,
        load_after=timezone.now(),
        **_WANTED,
        **{name: getattr(entry, name) for name in _TAKEN_OVER},
    )
    entry.decisions.update(entry=document)
    Mark.objects.filter(entry=document).delete()
    Mark.objects.filter(entry=entry).update(entry=document)
    known = Seen.objects.filter(entry=document)
    for seen in Seen.objects.filter(entry=entry):
        if not known.filter(user=seen.user_id, text_hash=seen.text_hash).exists():
            Seen.objects.filter(pk=seen.pk).update(entry=document)
    search.index(entry_id=document.pk, document_id=document.document_id, text=entry.text.text if entry.text else "")
    search.forget(entry_id=entry.pk)
    entry.delete()


def is_what_was_appended(entry: ReviewEntry, before: str, now: str) -> bool:
    """Whether all that is new at the end of a text was approved before it was sent."""
    pieces = RetainItem.objects.select_related("content").filter(
        bank=entry.bank_id, document_hash=entry.document_hash, held=True, seen_at__isnull=False
    )
    left = [item.content.text for item in pieces.filter(update_mode=RetainItem.Mode.APPEND).order_by("-pk")]
    while now != before:
        piece = next((text for text in left if now.endswith(text)), None)
        if piece is None:
            return False
        left.remove(piece)
        now = now.removesuffix(piece).removesuffix("\n")
    return True


hooks.holds(hold)

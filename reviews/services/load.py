"""Loading: workers read each document and its facts once; pages never wait for a bank.

A text that could not be read says so and cannot be decided on; unknown is never shown as empty.
"""

import random
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from django.db import transaction
from django.db.models import Case, DateTimeField, F, Q, Value, When
from django.utils import timezone

from banks import connections, pulse, replay
from banks.documents import document_or_none
from banks.hindsight import (
    BadAnswer,
    Document,
    HindsightClient,
    HindsightError,
    NotAddressable,
    NotFound,
    Refused,
    check_document_id,
)
from banks.models import Bank, Blob, Write
from banks.retain.flush import being_fed
from reviews import search
from reviews.curation import reapply, remember
from reviews.models import ReviewEntry
from reviews.screening.screen import screen
from reviews.services import document_facts, marking, returned
from reviews.services.document_facts import DocumentFacts
from reviews.services.enqueue import session_of
from reviews.services.expiry import expiry_of
from reviews.services.recording import open_write
from reviews.services.sight import first_sight

Load: TypeAlias = ReviewEntry.Load
State: TypeAlias = ReviewEntry.State

HANGS_AFTER = timedelta(minutes=3)
# A document that was just retained is not there yet: nobody calls it missing before it was looked for a few times.
LOOKS_BEFORE_MISSING = 4
# What was written again that much later than it was created is a session that an agent keeps replacing.
WRITTEN_ONCE = timedelta(minutes=1)
LIVE_FOR = timedelta(hours=6)
# Facts that changed while they were read: decisions about them are looked for again then.
FACTS_SETTLE = timedelta(minutes=1)
# What has just come is read when no more is on its way to its server, which does both. No later than this.
YIELDS_FOR = timedelta(seconds=30)


def load(entry_id: int) -> str:
    """Reads one document. Idempotent; returns a short word. A newer claim or a decision under way wins."""
    entry = _claim(entry_id)
    if entry is None:
        return "not due"
    if wait := connections.paused_until(entry.bank.server):
        _release(entry, load_after=wait, load_attempts=F("load_attempts") - 1)
        return "server closed"
    if open_write(entry):
        # What is under way will change the document; its end asks for a load again (reviews.after_write).
        _release(entry, load_after=None)
        return "write under way"
    try:
        check_document_id(entry.document_id)
        held = pulse.held(lambda: _renew(entry), at_most=HANGS_AFTER)
        with held, connections.talking_to(entry.bank.server) as client:
            document = _document(client, entry)
            if document is None and entry.state == State.DELETED:
                return _still_deleted(entry, drained=client.stats(entry.bank.bank_id).pending_operations == 0)
            if document is None:
                return _not_there(entry)
            facts = document_facts.read(client, bank=entry.bank, document_id=entry.document_id)
    except HindsightError as error:
        return _not_loaded(entry, error)
    return _loaded(entry, document, facts)


def _claim(entry_id: int) -> ReviewEntry | None:
    now = timezone.now()
    until = now + pulse.claim_time()
    due = ReviewEntry.objects.filter(pk=entry_id, load_after__lte=now)
    if not due.filter(Q(load_claimed_until=None) | Q(load_claimed_until__lt=now)).update(
        load_claimed_until=until, load_attempts=F("load_attempts") + 1
    ):
        return None
    entry = ReviewEntry.objects.select_related("bank__server").get(pk=entry_id)
    entry.load_claimed_until = until  # the token of this claim, never that of a worker that was quicker
    return entry


def _renew(entry: ReviewEntry) -> bool:
    until = timezone.now() + pulse.claim_time()
    mine = ReviewEntry.objects.filter(pk=entry.pk, load_claimed_until=entry.load_claimed_until)
    if not mine.update(load_claimed_until=until):
        return False
    entry.load_claimed_until = until
    return True


def _release(entry: ReviewEntry, *, seen: int | None = None, **changes: Any) -> bool:
    """Gives the claim back. False: it was lost, or the entry no longer has the version that was `seen`."""
    mine = ReviewEntry.objects.filter(pk=entry.pk, load_claimed_until=entry.load_claimed_until)
    if seen is not None:
        mine = mine.filter(version=seen)
    return bool(mine.update(load_claimed_until=None, **changes))


def _document(client: HindsightClient, entry: ReviewEntry) -> Document | None:
    """The document, None when the bank has none. A 404 counts only when the list of documents confirms it.

    A missing bank answers 404 for its documents too; the list tells (NotFound of the bank).
    """
    bank_id, document_id = entry.bank.bank_id, entry.document_id
    if (found := document_or_none(client, bank_id, document_id)) is not None:
        return found
    if client.find_document(bank_id, document_id) is not None:
        raise BadAnswer("The server lists this document but does not find it by its id: no call here can reach it.")
    return None


def _loaded(entry: ReviewEntry, document: Document, facts: DocumentFacts) -> str:
    text = document.text.encode("utf-8", "replace").decode("utf-8")
    at_sight = first_sight(text, screen(text))  # takes its time, and no transaction
    with transaction.atomic():
        blob = Blob.objects.store(text)
        edit = _edit_that_made(entry, blob)
        entry.danger = at_sight["danger"]
        changes: dict[str, Any] = {
            "load_state": Load.LOADED,
            "load_error": "",
            "load_after": _unless_asked_again(entry, timezone.now() + FACTS_SETTLE if facts.moved else None),
            "load_attempts": 0,
            "loaded_at": timezone.now(),
            "text": blob,
            "text_size": blob.size,
            "content_hash": document.content_hash,
            "document_created_at": document.created_at,
            "document_updated_at": document.updated_at,
            "retain_params": replay.retain_params_of(document),
            "tags": list(document.tags),
            "session": entry.session or session_of(document.metadata),
            "text_by": edit.actor if edit else None,
            "live_until": None if edit else _live_until(document),
            "facts": facts.stored(),
            "fact_count": document.fact_count,
            "retired_count": facts.retired,
            **at_sight,
            "expires_at": expiry_of(entry=entry, bank=entry.bank),
        }
        other_text = entry.text_id != blob.pk
        if other_text:
            changes["version"] = F("version") + 1  # what is on somebody's screen is no longer what is here
        stored = ReviewEntry.objects.filter(
            pk=entry.pk, load_claimed_until=entry.load_claimed_until, version=entry.version
        ).update(load_claimed_until=None, **changes)
        if not stored:
            _release(entry)
            return "overtaken"
        if other_text:
            search.index(entry_id=entry.pk, document_id=entry.document_id, text=text)
        marking.put(entry.pk, text)
        returned.look(entry, other_text=other_text)
        _curate(entry, facts, edit)
    return "loaded"


def _curate(entry: ReviewEntry, facts: DocumentFacts, edit: Write | None) -> None:
    """Decisions about facts that the server forgot, or that were made past us."""
    if not facts.whole:
        return
    bank, document_id = entry.bank, entry.document_id
    reapply.look(bank=bank, document_id=document_id, facts=facts.facts, cause=edit)
    if remember.mirror(bank=bank, document_id=document_id, facts=facts.facts):
        # What is only known now may have been extracted anew before.
        reapply.look(bank=bank, document_id=document_id, facts=facts.facts)


def _live_until(document: Document) -> datetime | None:
    """Agents that replace a session again and again: until when that is to be expected."""
    if document.created_at is None or document.updated_at is None:
        return None
    if document.updated_at - document.created_at < WRITTEN_ONCE:
        return None
    return document.updated_at + LIVE_FOR


def _edit_that_made(entry: ReviewEntry, text: Blob) -> Write | None:
    """The person's edit that this text is, None for an agent's text."""
    edits = Write.objects.filter(bank=entry.bank_id, document_hash=entry.document_hash, kind="edit", request=text)
    return edits.select_related("request", "before").order_by("-pk").first()


def _still_deleted(entry: ReviewEntry, *, drained: bool) -> str:
    """A retain that was running while we deleted brings the document back: look until nothing runs any more."""
    _release(entry, load_after=_unless_asked_again(entry, None if drained else _in(entry, 300)))
    return "still deleted" if drained else "the bank is working"


def _not_there(entry: ReviewEntry) -> str:
    if entry.load_attempts < LOOKS_BEFORE_MISSING:
        return _unread(entry, Load.LOADING, "Not in the bank yet; looking again.", _in(entry, 15))
    reapply.document_gone(bank=entry.bank, document_id=entry.document_id)
    return _unread(entry, Load.MISSING, "The bank does not have this document.", None)


def _not_loaded(entry: ReviewEntry, error: HindsightError) -> str:
    if isinstance(error, NotFound) and error.what == "bank":
        Bank.objects.filter(pk=entry.bank_id, gone_since=None).update(gone_since=timezone.now())
    return _unread(entry, *_face_of(entry, error))


def _unread(entry: ReviewEntry, state: Load, text: str, again: datetime | None) -> str:
    changes: dict[str, Any] = {"load_error": text[:500], "load_after": _unless_asked_again(entry, again)}
    if state is Load.UNREACHABLE and entry.text_id:
        state = Load(entry.load_state)  # what was read before is still what was decided on; it is re-read before a send
    if state != entry.load_state and entry.state == State.PENDING and state is not Load.LOADING:
        changes["version"] = F("version") + 1
    # A decision or a write that began meanwhile has set how things stand: it knows more than this look.
    if _release(entry, seen=entry.version, load_state=state, **changes):
        return str(state.value)
    _release(entry)
    return "overtaken"


def _unless_asked_again(entry: ReviewEntry, again: datetime | None) -> Case:
    """When to look again after this look; what was wished for while it was under way is not lost."""
    as_claimed = When(load_after=entry.load_after, then=Value(again, DateTimeField()))
    return Case(as_claimed, default=F("load_after"), output_field=DateTimeField())


def _face_of(entry: ReviewEntry, error: HindsightError) -> tuple[Load, str, datetime | None]:
    """(state, sentence, when to try again) for a document that could not be read."""
    if isinstance(error, NotAddressable):
        return Load.REFUSED, f"No server can address this id: {error.detail}", None
    if isinstance(error, NotFound) and error.what == "bank":
        return Load.MISSING, "There is no such bank on this server.", None
    if isinstance(error, Refused):
        return Load.REFUSED, "The server refused our key.", _in(entry, 300)
    if isinstance(error, BadAnswer):  # a proxy's page for maintenance looks like this too
        return Load.REFUSED, str(error), _in(entry, 3600)
    return Load.UNREACHABLE, str(error), _in(entry, 300)


def _in(entry: ReviewEntry, longest: float) -> datetime:
    seconds = min(3.0 * 2.0 ** min(entry.load_attempts, 10), longest)
    return timezone.now() + timedelta(seconds=seconds * random.uniform(0.8, 1.2))  # noqa: S311


def due(*, limit: int = 200) -> list[int]:
    """The entries that want to be loaded now and that nobody loads, oldest wish first."""
    now = timezone.now()
    wanted = ReviewEntry.objects.filter(load_after__lte=now).filter(
        Q(load_claimed_until=None) | Q(load_claimed_until__lt=now)
    )
    if fed := being_fed(since=now - YIELDS_FOR):
        wanted = wanted.exclude(bank__server__in=fed, loaded_at=None, load_after__gt=now - YIELDS_FOR)
    return list(wanted.order_by("load_after", "pk").values_list("pk", flat=True)[:limit])


def after_write_end(write: Write) -> None:
    """Asks for a fresh look at a document whose write has ended."""
    ReviewEntry.objects.of_document(bank=write.bank, document_id=write.document_id).update(
        load_after=timezone.now(), load_attempts=0, load_claimed_until=None
    )

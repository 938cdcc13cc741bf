"""Cancelling, retrying and forgetting what a server does in the background.

The first two are not what they sound like: a cancelled operation that had begun may still store its facts, and one that
is queued again has not succeeded yet. So both are watched for a while, and the row says what the server said and what
was seen afterwards. The document is among a row's parameters, not its own: it waits for no write of that document,
since such a write may be what is to be cancelled.
"""

import hashlib
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.utils import timezone

from banks.hindsight import Conflict, HindsightClient, NotFound, Operation
from banks.models import Bank, Role, Write
from banks.writes import Accepted, ChangedSinceDecided, Done, Kind, NotDone, StillWorking, Stuck, register
from banks.writes.kind import NO_PARAMS
from memadmin.retention import ends_of

ENDED = ("completed", "failed", "cancelled")
ERROR_ENDS = (600, 300)  # bytes of an error that are kept with the row
# How long after a cancel its document is looked for, and how long a retry is followed.
WATCHED = timedelta(seconds=90)
FOLLOWED = timedelta(hours=1)
# A parent that is pending while all its parts have ended: older servers leave it like that for ever.
SETTLES = timedelta(minutes=2)

FORGOTTEN = "The server does not know this operation (any more), so there was nothing to cancel."
NOTHING_TO_RETRY = (
    "The server does not know this operation any more, so it cannot retry it. If its document is missing, retain it "
    "again from where it came."
)
STORES_STILL = "Cancelled. Its work had begun and may still store facts."
NOT_SEEN = "Cancelled. Its work had begun; nothing of its document was stored in the 90 seconds after that."
CANNOT_SEE = "Cancelled. Its work had begun and may still store facts; which document it is about is not known."
NEVER_BEGAN = "Cancelled before its work began: it stores nothing, unless somebody retries it."
PARTS_GO_ON = "Cancelled, but its parts were not: {count} go on and may still store facts. Cancel them one by one."
FORGOT = "The server has forgotten it, and the content it kept for a retry. Its error is in this row."
PARTS_FAILED = (
    "The server queued the whole again but none of its parts, and all of those have ended. Retry the failed parts one "
    "by one."
)


class _OnOperation(Kind):
    """`params`: operation (its id), document, type, and what it was called on screen (status)."""

    def slot(
        self, *, bank: Bank, document_id: str, fact_ids: Sequence[str] = (), params: Mapping[str, Any] = NO_PARAMS
    ) -> str:
        operation_id = str(params["operation"])
        return hashlib.sha256(f"operation\0{bank.pk}\0{operation_id}".encode("utf-8", "surrogatepass")).hexdigest()


@register
class CancelOperation(_OnOperation):
    name, glyph, verb, past, tone = "operation-cancel", "✕", "cancel operation", "cancelled", "danger"
    role = Role.ADMIN

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | None:
        write.outcome = {**write.outcome, "about": _about(write)}
        found = _read(client, write)
        if found.not_found or found.raw_status in ENDED:
            return _too_late(found)
        write.outcome = {
            **write.outcome,
            "was": found.status,
            "began": found.raw_status == "processing",
            "document_before": _document(client, write),
        }
        return None

    def send(self, client: HindsightClient, write: Write) -> Accepted | Done | Stuck:
        try:
            client.cancel_operation(write.bank.bank_id, _id(write))
        except NotFound as error:
            if error.what != "operation":
                raise
            return Done({"said": FORGOTTEN})
        except Conflict as error:
            found = _read(client, write)
            if found.raw_status in ENDED:
                return _too_late(found)
            return Stuck(
                f"The server refuses to cancel it while it is {found.status}, and it was left as it is. Servers up to "
                f"0.9 cancel only what has not begun. It said: {error.detail}"
            )
        return Accepted({"taken": True, "said": "The server took the cancel."})

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | StillWorking | Stuck:
        found = _read(client, write)
        if found.raw_status == "cancelled":
            return self._afterwards(client, write, found)
        if found.not_found or found.raw_status in ENDED:
            return _too_late(found)
        if not write.outcome.get("taken"):
            return NotDone()
        return Done({"status": found.status, "said": f"It was cancelled, and is {found.status} again: it was retried."})

    def _afterwards(self, client: HindsightClient, write: Write, found: Operation) -> Done | StillWorking:
        told: dict[str, Any] = {"status": "cancelled", "document": write.params.get("document", "")}
        if going_on := sum(not child.terminal for child in found.children):
            return Done({**told, "said": PARTS_GO_ON.format(count=going_on)})
        if not write.outcome.get("began"):
            return Done({**told, "said": NEVER_BEGAN})
        if not write.params.get("document"):
            return Done({**told, "said": CANNOT_SEE})
        after = timezone.now() - (write.sent or write.created)
        if _document(client, write) != write.outcome.get("document_before", ""):
            said = f"Cancelled, but its work had begun: its document was stored within {after.total_seconds():.0f} s."
            return Done({**told, "stored": True, "said": said})
        if after < WATCHED:
            return StillWorking({**told, "said": STORES_STILL})
        return Done({**told, "stored": False, "said": NOT_SEEN})


@register
class RetryOperation(_OnOperation):
    name, glyph, verb, past, tone = "operation-retry", "↻", "retry operation", "queued again", "pending"

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | None:
        write.outcome = {**write.outcome, "about": _about(write)}
        found = _read(client, write)
        if found.not_found:
            return Stuck(NOTHING_TO_RETRY)
        if found.raw_status == "completed":
            return Done({"status": "completed", "said": "It has completed; there was nothing to retry."})
        if found.raw_status == "processing" or (
            found.raw_status == "pending" and not (found.next_retry_at or found.children)
        ):
            return Done({"status": found.status, "said": f"It is {found.status} already; nothing was sent."})
        # The server forgets the error with the retry.
        was = {"was": found.status, "moved_before": _stamp(found), "error_before": _said(found)}
        write.outcome = {**write.outcome, **was}
        return None

    def send(self, client: HindsightClient, write: Write) -> Accepted | Done | Stuck:
        try:
            client.retry_operation(write.bank.bank_id, _id(write))
        except NotFound as error:
            if error.what != "operation":
                raise
            return Stuck(NOTHING_TO_RETRY)
        except Conflict as error:
            return Stuck(f"The server has nothing to retry. It said: {error.detail}")
        return Accepted({"taken": True, "said": "Queued again."})

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | StillWorking | Stuck:
        found = _read(client, write)
        if found.not_found:
            return Stuck(NOTHING_TO_RETRY)
        as_before = (found.status, _stamp(found)) == (write.outcome.get("was"), write.outcome.get("moved_before"))
        if as_before and not write.outcome.get("taken"):
            return NotDone()
        if found.raw_status in ENDED and all(child.terminal for child in found.children):
            return _how_it_ended(found)
        waited = timezone.now() - (write.sent or write.created)
        children = found.children
        if waited > SETTLES and children and all(child.terminal for child in children) and found.failed:
            return Stuck(PARTS_FAILED, {"status": found.status})
        told = {"status": found.status, "server_says": _said(found)}
        if waited > FOLLOWED:
            said = f"Queued again. After an hour it is {found.status}; the list of operations goes on watching it."
            return Done({**told, "said": said})
        return StillWorking({**told, "said": f"Queued again, and {found.status} now."})


@register
class ForgetOperation(_OnOperation):
    """The server drops its record of what has ended, and the content it kept for a retry. Facts stay as they are."""

    name, glyph, verb, past, tone = "operation-forget", "○", "forget operation", "forgotten", "none"
    role = Role.ADMIN

    def precheck(self, client: HindsightClient, write: Write) -> Done | Stuck | None:
        found = _read(client, write)
        write.outcome = {**write.outcome, "about": _about(write), "was": found.status, "error_before": _said(found)}
        if found.not_found:
            return Done({"said": "The server had forgotten it already."})
        if found.raw_status not in ENDED:
            raise ChangedSinceDecided(f"It is {found.status} now, so it was not forgotten.")
        return None

    def send(self, client: HindsightClient, write: Write) -> Accepted | Done | Stuck:
        try:
            client.delete_operation(write.bank.bank_id, _id(write))
        except NotFound as error:
            if error.what != "operation":
                raise
        except Conflict as error:
            return Stuck(f"The server does not forget it. It said: {error.detail}")
        return Done({"said": FORGOT})

    def verify(self, client: HindsightClient, write: Write) -> Done | NotDone | StillWorking | Stuck:
        return Done({"said": FORGOT}) if _read(client, write).not_found else NotDone()


def _id(write: Write) -> str:
    return str(write.params["operation"])


def _about(write: Write) -> str:
    """What lists call it by: they do not read parameters."""
    return str(write.params.get("document") or write.params.get("type") or _id(write))[:200]


def _read(client: HindsightClient, write: Write) -> Operation:
    return client.get_operation(write.bank.bank_id, _id(write))


def _document(client: HindsightClient, write: Write) -> str:
    """How the operation's document stands: when it was written, "" when it is not there or not known."""
    document_id = str(write.params.get("document", ""))
    row = client.find_document(write.bank.bank_id, document_id) if document_id else None
    return f"{row.updated_at} {row.content_hash}" if row else ""


def _too_late(found: Operation) -> Done:
    if found.not_found:
        return Done({"status": "not_found", "said": FORGOTTEN})
    return Done({"status": found.raw_status, "said": f"Nothing was cancelled: it had ended as {found.raw_status}."})


def _how_it_ended(found: Operation) -> Done | Stuck:
    told = {"status": found.raw_status}
    if found.raw_status == "completed":
        return Done({**told, "said": "It ran again and completed."})
    if found.raw_status == "cancelled":
        whole = bool(found.children) and all(child.status == "completed" for child in found.children)
        said = "Its parts completed; the server goes on calling it cancelled." if whole else "It was cancelled since."
        return Done({**told, "said": said})
    return Stuck(f"It ran again and failed again: {_said(found) or 'the server does not say why.'}", told)


def _said(found: Operation) -> str:
    """The errors of the operation and its parts, bounded."""
    errors = dict.fromkeys([found.error, *(child.error for child in found.children)])
    kept = ends_of("; ".join(each for each in errors if each), *ERROR_ENDS)
    return f"{kept.head} … {kept.tail}" if kept.truncated else kept.text


def _stamp(found: Operation) -> str:
    return found.moved_at.isoformat() if found.moved_at else ""

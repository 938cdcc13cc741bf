"""What every decision has in common: its row, and what else is under way on the document."""

from typing import Any

from django.db.models import F

from banks.models import Write
from memadmin.accounts.models import User
from reviews.models import Decision, ReviewEntry


def decided(
    entry: ReviewEntry, verdict: Decision.Verdict, *, user: User | None, write: Write | None, **more: Any
) -> Decision:
    """Appends a decision about what the instance shows; a person's, unless `decided_via` says otherwise."""
    return Decision.objects.create(
        **{
            "entry": entry,
            "verdict": verdict,
            "decided_via": Decision.Via.PERSON,
            "user": user,
            "user_name": user.display_name if user else "",
            "version": entry.version,
            "text_hash": entry.text_id or "",
            "content_hash": entry.content_hash,
            "write": write,
            **more,
        }
    )


def open_write(entry: ReviewEntry) -> Write | None:
    """The write of this document that is under way, if there is one."""
    return (
        Write.objects.filter(bank=entry.bank_id, document_hash=entry.document_hash, state__in=Write.OPEN)
        .order_by("-pk")
        .first()
    )


def decided_on(entry: ReviewEntry) -> dict[str, Any]:
    """What a write must know of the document that was decided on."""
    return {
        "bank": entry.bank,
        "document_id": entry.document_id,
        "decided_hash": entry.content_hash,
        "decided_created": entry.document_created_at,
    }


def hold(write: Write) -> None:
    """Nobody else takes this row back until the transaction has ended: who asks here waits, and then sees the answer.

    The row itself stays as it is.
    """
    Write.objects.filter(pk=write.pk).update(attempts=F("attempts"))

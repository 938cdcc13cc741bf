"""What the endpoints about memories take and give."""

from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field

from banks.models import ApiToken, Blob
from banks.paper import PART
from memadmin.api.errors import Problem
from memadmin.retention import head_of
from reviews.api.receipts import LONGEST, receipt_of
from reviews.errors import Conflict
from reviews.models import ReviewEntry
from reviews.selectors.shown import Shown, text_shown

COMPARED = 20_000  # bytes of each of two texts that a conflict gives
MOST_PARTS = 500
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Version = Annotated[int, Field(ge=1, le=2**31 - 1)]


class ReviewOut(Schema):
    """`version` and `text_hash` (SHA-256 of the text, "" while there is none) are what a decision has to name.
    `approvals`: of people, while it waits for another one."""

    id: int
    bank: str
    server: str
    document_id: str
    project: str
    reason: str
    language: str
    session: str
    state: str
    version: int
    text_hash: str
    text_bytes: int
    load_state: str
    preview: str
    facts: int | None
    retired: int | None
    marks: list[str]
    danger: bool
    enqueued_at: datetime | None
    expires_at: datetime | None
    approvals: int
    approvals_needed: int
    decided_by: str
    decided_via: str
    decided_at: datetime | None

    @classmethod
    def values(cls, entry: ReviewEntry) -> dict[str, Any]:
        same = [
            *("document_id", "project", "reason", "language", "session", "state", "version", "load_state"),
            "danger",
        ]
        same += ["preview", "enqueued_at", "expires_at", "decided_by", "decided_via", "decided_at"]
        return {
            **{name: getattr(entry, name) for name in same},
            "id": entry.pk,
            "bank": entry.bank.bank_id,
            "server": entry.bank.server.name,
            "text_hash": entry.text_id or "",
            "text_bytes": entry.text_size,
            "facts": entry.fact_count,
            "retired": entry.retired_count,
            "approvals": int(entry.vouched),
            "approvals_needed": 2 if entry.bank.two_reviewers else 1,
            "marks": [str(mark.get("what", "")) for mark in entry.marks],
        }

    @classmethod
    def of(cls, entry: ReviewEntry) -> "ReviewOut":
        return cls(**cls.values(entry))


class ReviewPageOut(Schema):
    """`next` is the `cursor` of the page behind; null when there is none."""

    reviews: list[ReviewOut]
    next: str | None


class ReviewTextOut(ReviewOut):
    """`text`: one of its `parts`, null while it is not loaded. `receipt` proves that this part was fetched."""

    text: str | None
    part: int
    parts: int
    receipt: str

    @classmethod
    def part_of(cls, entry: ReviewEntry, token: ApiToken, part: int) -> "ReviewTextOut":
        """`part` beyond the last one is the last."""
        text = entry.text.text if entry.text and not entry.text.erased else None
        parts = max(-(-len(text or "") // PART), 1)
        part = min(part, parts)
        given = None if text is None else text[(part - 1) * PART : part * PART]
        receipt = "" if text is None else receipt_of(entry, token, part)
        return cls(**cls.values(entry), text=given, part=part, parts=parts, receipt=receipt)


class SeenIn(Schema):
    """What was seen: as `GET /reviews/{id}` has said it."""

    version: Version
    text_hash: Hash


class ApproveIn(SeenIn):
    """`receipts`: of a text longer than 16,000 bytes, those of all its parts."""

    receipts: Annotated[list[Annotated[str, Field(max_length=LONGEST)]], Field(max_length=MOST_PARTS)] = []


class EditIn(SeenIn):
    """`text`: all of it."""

    text: str


class UndoIn(Schema):
    version: Version


class DecisionOut(Schema):
    """`write`: its row of the write log, `GET /writes/{id}`; null where nothing changed."""

    review: ReviewOut
    write: int | None


class TextOut(Schema):
    """`omitted`: bytes at its end that were left out."""

    text: str
    omitted: int

    @classmethod
    def of(cls, blob: Blob | None) -> "TextOut | None":
        if blob is None or blob.erased:
            return None
        kept = head_of(blob.text, COMPARED)
        return cls(text=kept.text, omitted=kept.omitted.count or 0)


class NotDecidedOut(Problem):
    """Nothing was done. Where somebody was faster: `winner`, `action` and `at` ("" and null when the text was written
    again), the memory as it is `now`, and both texts. `missing`: parts of the text that were not fetched."""

    winner: str = ""
    action: str = ""
    at: datetime | None = None
    now: ReviewOut | None = None
    text_seen: TextOut | None = None
    text_now: TextOut | None = None
    missing: list[int] = []


def conflict_values(conflict: Conflict, version: int, text_hash: str) -> dict[str, Any]:
    """The members of a 409 beside its `detail`."""
    entry = conflict.entry
    said = NotDecidedOut(
        detail="",
        winner=conflict.winner,
        action=conflict.action,
        at=conflict.at,
        now=ReviewOut.of(entry),
        text_seen=TextOut.of(text_shown(entry, Shown(version, text_hash))),
        text_now=TextOut.of(entry.text),
    )
    return said.model_dump(mode="json", exclude={"detail"})

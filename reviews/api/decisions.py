"""Endpoint: what was decided, for programs that follow it."""

from datetime import datetime
from typing import Annotated

from django.http import HttpRequest
from ninja import Query, Router, Schema

from banks.api.asking import Ambiguous, asker, bank_asked
from banks.api.routes import DEFAULT_LIMIT, Limit, Text
from reviews.models import Decision
from reviews.selectors.feed import decisions_after, is_undone

router = Router(tags=["reviews"])
After = Annotated[str, Query(max_length=18, pattern="^[0-9]*$")]
Via = Decision.Via
# Who closed it, as a queue file says it: a person is not named.
BY = {Via.PERSON: None, Via.EXPIRY: "expiry", Via.HOUSEKEEPING: "auto"}


class FeedRowOut(Schema):
    """`verdict`: approved, deleted, edited, reopened, gone (closed, since the bank had lost it) or rejected (held, and
    never sent); vouched and withdrawn are the first of two approvals, given and taken back. `by`: null = a person, else
    expiry or auto, or what an imported line says (`via` is then file). `undone`: it does not stand."""

    id: int
    bank: str
    server: str
    document_id: str
    review: int
    verdict: str
    via: str
    by: str | None
    who: str
    at: datetime
    text_hash: str
    undone: bool

    @classmethod
    def of(cls, row: Decision) -> "FeedRowOut":
        claimed = (row.event.by if row.event else "") or None
        return cls(
            id=row.pk,
            bank=row.entry.bank.bank_id,
            server=row.entry.bank.server.name,
            document_id=row.entry.document_id,
            review=row.entry_id,
            verdict=row.verdict,
            via=row.decided_via,
            by=claimed if row.decided_via == Via.FILE else BY[Via(row.decided_via)],
            who=row.user_name,
            at=row.at,
            text_hash=row.text_hash,
            undone=is_undone(row),
        )


class FeedOut(Schema):
    """`next` is always given: keep it, and ask from there. `more`: there are more right now; a page may be empty."""

    decisions: list[FeedRowOut]
    next: str
    more: bool


@router.get(
    "/decisions",
    response={200: FeedOut, 409: Ambiguous},
    operation_id="decisions",
    summary="Decisions in the order in which they took effect",
)
def decisions(
    request: HttpRequest, bank: Text = "", server: Text = "", cursor: After = "", limit: Limit = DEFAULT_LIMIT
) -> FeedOut:
    user = asker(request)
    page = decisions_after(user, int(cursor or 0), limit, bank=bank_asked(user, bank, server))
    return FeedOut(decisions=[FeedRowOut.of(each) for each in page.rows], next=str(page.last), more=page.more)

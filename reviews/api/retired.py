"""Endpoint: the archive of retired facts."""

from datetime import date, datetime
from typing import Annotated, Literal

from django.db.models import prefetch_related_objects
from django.http import HttpRequest
from ninja import Query, Router, Schema

from banks.api.asking import Ambiguous, asker, bank_asked, cursor_of
from banks.api.routes import DEFAULT_LIMIT, Limit, Text
from banks.api.shapes import TEXT_GIVEN
from memadmin.retention import head_of
from reviews.models import FactDecision
from reviews.selectors import retired
from reviews.selectors.retired_filters import RetiredFilters

router = Router(tags=["facts"])
# As reviews.selectors.retired_filters has them; "" is what is retired, and in the bank.
Shelf = Literal["", "restored", "again", "gone"]
Words = Annotated[str, Query(max_length=200)]


class RetiredOut(Schema):
    """`fact_id` is its id now; `preview` the beginning of its text; `applied_again` counts new extractions after which
    the decision was applied once more."""

    id: int
    bank: str
    server: str
    document_id: str
    fact_id: str
    list: str
    preview: str
    reason: str
    at: datetime
    who: str
    via: str
    origin: str
    applied_again: int
    restored_at: datetime | None
    gone_since: datetime | None

    @classmethod
    def of(cls, row: FactDecision) -> "RetiredOut":
        same = ("document_id", "fact_id", "preview", "at", "via", "origin", "restored_at", "gone_since")
        return cls(
            **{name: getattr(row, name) for name in same},
            id=row.pk,
            bank=row.bank.bank_id,
            server=row.bank.server.name,
            list=row.shelf,
            reason=head_of(row.reason, TEXT_GIVEN).text,
            who=row.user_name,
            applied_again=row.again,
        )


class RetiredPageOut(Schema):
    """`next` is the `cursor` of the page behind; null when there is none."""

    facts: list[RetiredOut]
    next: str | None


@router.get(
    "/facts/retired",
    response={200: RetiredPageOut, 409: Ambiguous},
    operation_id="retired",
    summary="Facts that were retired",
)
def retired_facts(
    request: HttpRequest,
    list: Shelf = "",  # noqa: A002  the name that programs say
    bank: Text = "",
    server: Text = "",
    q: Words = "",
    reason: Words = "",
    since: date | None = None,
    until: date | None = None,
    order: Literal["", "oldest"] = "",
    cursor: Text = "",
    limit: Limit = DEFAULT_LIMIT,
) -> RetiredPageOut:
    user = asker(request)
    one = bank_asked(user, bank, server)
    days = {"since": since.isoformat() if since else "", "until": until.isoformat() if until else ""}
    filters = RetiredFilters.parse(
        {"tab": list, "bank": str(one.pk) if one else "", "q": q, "reason": reason, "order": order, **days}
    )
    page = retired.retired_page(user, filters, cursor_of(cursor), limit)
    prefetch_related_objects(page.rows, "bank__server")
    return RetiredPageOut(facts=[RetiredOut.of(each) for each in page.rows], next=page.later or None)

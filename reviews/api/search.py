"""Endpoint: search in what is stored here, of all banks that the token may see."""

from datetime import date, datetime
from typing import Annotated, Any, Literal

from django.http import HttpRequest
from ninja import Query, Router, Schema

from banks.api.asking import Ambiguous, asker, bank_named, cursor_of, server_named
from banks.api.routes import DEFAULT_LIMIT, Limit, Text
from banks.models import Write
from memadmin.api.errors import Refused
from memadmin.counting import Count
from reviews.models import FactDecision, ReviewEntry
from reviews.selectors.search import Search
from reviews.selectors.search_filters import LONGEST, parse_search
from reviews.selectors.search_hits import Hit

router = Router(tags=["search"])
Kind = Literal["memories", "facts", "log"]  # as reviews.selectors.search_filters has them
Words = Annotated[str, Query(min_length=1, max_length=LONGEST)]


class HitOut(Schema):
    """`id`: of the memory, the decision about a fact, or the row of the log. `text`: the part of one of its texts that
    has the words, "" where there is none; `where` says which one, "" for its own. `marks`: [from, to) of the words in
    `text`, in characters. `review`: the memory of a fact's document."""

    kind: str
    id: int
    review: int | None
    bank: str
    server: str
    document_id: str
    fact_id: str
    what: str
    state: str
    at: datetime | None
    where: str
    text: str
    marks: list[list[int]]

    @classmethod
    def of(cls, hit: Hit) -> "HitOut":
        row, best = hit.row, hit.best
        return cls(
            **_told(row),
            id=row.pk,
            review=row.pk if isinstance(row, ReviewEntry) else hit.entry,
            bank=hit.bank.bank_id,
            server=hit.bank.server.name,
            document_id=row.document_id,
            at=hit.at,
            where=hit.where,
            text=best.text if best else "",
            marks=[list(each) for each in best.marks] if best else [],
        )


def _told(row: ReviewEntry | FactDecision | Write) -> dict[str, Any]:
    if isinstance(row, ReviewEntry):
        return {"kind": "memories", "fact_id": "", "what": "", "state": row.state}
    if isinstance(row, FactDecision):
        return {"kind": "facts", "fact_id": row.fact_id, "what": row.verdict, "state": row.shelf}
    return {"kind": "log", "fact_id": "", "what": row.kind, "state": row.state}


class FoundOut(Schema):
    """`more`: there are more than `number`."""

    number: int
    more: bool

    @classmethod
    def of(cls, count: Count) -> "FoundOut":
        return cls(number=count.number, more=count.capped)


class KindsOut(Schema):
    memories: FoundOut
    facts: FoundOut
    log: FoundOut


class SearchOut(Schema):
    """Newest first. `found`: how many of each kind. `next` is the `cursor` of the page behind; null when there is none.
    A page may have fewer hits than `limit`, and another page behind it."""

    hits: list[HitOut]
    found: KindsOut
    next: str | None


@router.get("/search", response={200: SearchOut, 409: Ambiguous}, operation_id="search", summary="Search everything")
def search(
    request: HttpRequest,
    q: Words,
    kind: Kind = "memories",
    bank: Text = "",
    server: Text = "",
    since: date | None = None,
    until: date | None = None,
    cursor: Text = "",
    limit: Limit = DEFAULT_LIMIT,
) -> SearchOut:
    user = asker(request)
    one = bank_named(user, bank, server) if bank else None
    place = server_named(user, server) if server and one is None else None
    asked = parse_search(
        {
            "q": q,
            "kind": kind,
            "bank": str(one.pk) if one else "",
            "server": str(place.pk) if place else "",
            "since": since.isoformat() if since else "",
            "until": until.isoformat() if until else "",
        }
    )
    if asked.refused or not asked.filters.q:
        raise Refused(422, asked.refused[0] if asked.refused else "`q` is empty.", fields=[])
    looked = Search(user, asked.filters)
    page, hits = looked.page(kind, cursor_of(cursor), limit)
    found = {each: FoundOut.of(count) for each, count in looked.counts().items()}
    return SearchOut(hits=[HitOut.of(hit) for hit in hits], found=KindsOut(**found), next=page.later or None)

"""Endpoints: the queue, one memory with its text, and decisions on it by what was seen."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any, Literal

from django.db.models import prefetch_related_objects
from django.http import HttpRequest, HttpResponse
from ninja import Query, Router
from ninja.responses import Status

from banks.api.asking import Ambiguous, asker, bank_asked, cursor_of
from banks.api.once import once
from banks.api.routes import DEFAULT_LIMIT, LARGEST_PK, Limit, Text
from banks.models import Role, Write
from memadmin.accounts.models import User
from memadmin.api.errors import Refused
from reviews.access import get_entry
from reviews.api.receipts import parts_of
from reviews.api.shapes import (
    ApproveIn,
    DecisionOut,
    EditIn,
    NotDecidedOut,
    ReviewOut,
    ReviewPageOut,
    ReviewTextOut,
    SeenIn,
    UndoIn,
    conflict_values,
)
from reviews.errors import Blank, Conflict, NotDecided, TooLarge, Unread
from reviews.models import ReviewEntry
from reviews.selectors import queue
from reviews.selectors.filters import Filters
from reviews.services import decide

router = Router(tags=["reviews"])
State = Literal[
    "", "held", "flagged", "broken", "reopened", "no-facts", "deleting", "approved", "deleted", "rejected", "decided"
]  # as reviews.selectors.filters has them, "" is pending
Age = Literal["", "soon", "older-1", "older-3", "older-7", "undated"]
Order = Literal["", "oldest", "newest"]
Part = Annotated[int, Query(ge=1, le=99_999)]
VIA = Write.Via.API
DECIDED: dict[int, Any] = {200: DecisionOut, 409: NotDecidedOut}
SENT: dict[int, Any] = {200: DecisionOut, 202: DecisionOut, 409: NotDecidedOut}


@router.get("/reviews", response={200: ReviewPageOut, 409: Ambiguous}, operation_id="reviews", summary="The queue")
def reviews(
    request: HttpRequest,
    state: State = "",
    age: Age = "",
    bank: Text = "",
    server: Text = "",
    project: Annotated[str, Query(max_length=1_000)] = "",
    reason: Annotated[str, Query(max_length=200)] = "",
    q: Annotated[str, Query(max_length=200)] = "",
    order: Order = "",
    cursor: Text = "",
    limit: Limit = DEFAULT_LIMIT,
) -> ReviewPageOut:
    user = asker(request)
    one = bank_asked(user, bank, server)
    plain = {"project": project, "reason": reason, "q": q.strip()}
    asked = {name: text.replace("\x00", "") for name, text in plain.items()}
    filters = Filters(state=state, age=age, bank=str(one.pk) if one else "", order=order, **asked)
    page = queue.entry_page(user, filters, cursor_of(cursor), limit)
    prefetch_related_objects(page.rows, "bank__server")
    return ReviewPageOut(reviews=[ReviewOut.of(each) for each in page.rows], next=page.later or None)


@router.get(
    "/reviews/{int:review_id}", response=ReviewTextOut, operation_id="review", summary="One memory, with its text"
)
def review(request: HttpRequest, review_id: int, part: Part = 1) -> ReviewTextOut:
    user = asker(request)
    return ReviewTextOut.part_of(_entry(user, review_id), user.token, part)


@router.post(
    "/reviews/{int:review_id}/approve", response=DECIDED, operation_id="approve", summary="Approve what was seen"
)
def approve(request: HttpRequest, review_id: int, body: ApproveIn) -> Status[Any] | HttpResponse:
    def act(user: User, entry: ReviewEntry) -> tuple[int, Write | None]:
        read = parts_of(body.receipts, entry, user.token)
        decision = decide.approve(**_seen(user, entry, body), read=read)
        return 200, decision.write

    return _decided(request, review_id, act, body.version, body.text_hash)


@router.post(
    "/reviews/{int:review_id}/delete", response=SENT, operation_id="delete", summary="Delete the document that was seen"
)
def delete(request: HttpRequest, review_id: int, body: SeenIn) -> Status[Any] | HttpResponse:
    def act(user: User, entry: ReviewEntry) -> tuple[int, Write | None]:
        write = decide.delete(**_seen(user, entry, body))
        return (202 if write.is_open else 200), write

    return _decided(request, review_id, act, body.version, body.text_hash)


@router.post(
    "/reviews/{int:review_id}/edit", response=SENT, operation_id="edit", summary="Another text for what was seen"
)
def edit(request: HttpRequest, review_id: int, body: EditIn) -> Status[Any] | HttpResponse:
    def act(user: User, entry: ReviewEntry) -> tuple[int, Write | None]:
        write = decide.edit(**_seen(user, entry, body), new_text=body.text)
        return (202 if write and write.is_open else 200), write

    return _decided(request, review_id, act, body.version, body.text_hash)


@router.post(
    "/reviews/{int:review_id}/undo", response=DECIDED, operation_id="undo", summary="Take the latest decision back"
)
def undo(request: HttpRequest, review_id: int, body: UndoIn) -> Status[Any] | HttpResponse:
    def act(user: User, entry: ReviewEntry) -> tuple[int, Write | None]:
        return 200, decide.undo(user=user, entry_id=entry.pk, version=body.version, via=VIA).write

    return _decided(request, review_id, act, body.version, "")


def _seen(user: User, entry: ReviewEntry, body: SeenIn) -> dict[str, Any]:
    return {
        "user": user,
        "entry_id": entry.pk,
        "version": body.version,
        "text_hash": body.text_hash,
        "via": VIA,
    }


def _decided(
    request: HttpRequest,
    pk: int,
    act: Callable[[User, ReviewEntry], tuple[int, Write | None]],
    version: int,
    text_hash: str,
) -> Status[Any] | HttpResponse:
    def decided() -> tuple[int, DecisionOut]:
        user = asker(request)
        entry = _entry(user, pk, Role.REVIEWER)
        with _refusals(version, text_hash):
            status, write = act(user, entry)
        return status, DecisionOut(review=ReviewOut.of(_entry(user, pk)), write=write.pk if write else None)

    return once(request, decided)


@contextmanager
def _refusals(version: int, text_hash: str) -> Iterator[None]:
    try:
        yield
    except Conflict as conflict:
        raise Refused(409, conflict.sentence, **conflict_values(conflict, version, text_hash)) from conflict
    except Unread as unread:
        told = f"{len(unread.missing)} of the parts of this text were not fetched. Nothing was approved."
        raise Refused(409, told, missing=unread.missing) from unread
    except (Blank, TooLarge) as refused:
        raise Refused(422, str(refused), fields=[]) from refused
    except NotDecided as refused:
        raise Refused(409, str(refused)) from refused


def _entry(user: User, pk: int, role: Role = Role.VIEWER) -> ReviewEntry:
    if not 0 < pk <= LARGEST_PK:
        raise Refused(404, "No such memory.")
    return get_entry(user, pk, role)

"""Endpoints: what servers work on, as it was last seen; retry, cancel and forget through the door."""

from typing import Annotated, Any, Literal
from uuid import uuid4

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router
from ninja.responses import Status

from banks import access, selectors_operations
from banks.api.asking import Ambiguous, asker, bank_named, cursor_of, server_named
from banks.api.once import once
from banks.api.operation_shapes import ActOut, OperationOut, OperationPageOut
from banks.api.routes import DEFAULT_LIMIT, LARGEST_PK, Limit, Text
from banks.models import OperationSeen, Write
from banks.operations import acts
from banks.operations.filters import OperationFilters
from memadmin.accounts.models import User
from memadmin.api.errors import Problem, Refused

router = Router(tags=["operations"])
AT_ONCE = 50  # parts of one operation, each with a write of its own; more are recorded by a worker
Show = Literal["", "open", "failed", "stuck"]
ACTED: dict[int, Any] = {202: ActOut, 409: Problem}
NOTHING = "There is no such operation, or this token may not see it."


@router.get(
    "/operations",
    response={200: OperationPageOut, 409: Ambiguous},
    operation_id="operations",
    summary="What the servers of all banks work on",
)
def operations(
    request: HttpRequest,
    show: Show = "",
    bank: Text = "",
    server: Annotated[str, Query(max_length=100)] = "",
    status: Annotated[str, Query(max_length=40)] = "",
    type: Annotated[str, Query(max_length=60)] = "",  # noqa: A002  the name that servers say
    q: Annotated[str, Query(max_length=200)] = "",
    cursor: Text = "",
    limit: Limit = DEFAULT_LIMIT,
) -> OperationPageOut:
    user = asker(request)
    asked = {"show": show, "status": status, "type": type, "q": q}
    if bank:
        asked["bank"] = str(bank_named(user, bank, server).pk)
    elif server:
        asked["server"] = str(server_named(user, server).pk)
    filters = OperationFilters.parse(asked)
    page = selectors_operations.operation_page(user, filters, cursor_of(cursor), limit)
    rows = selectors_operations.as_rows(user, page.rows)
    return OperationPageOut(operations=[OperationOut.of(row) for row in rows], next=page.later or None)


@router.get(
    "/operations/{int:operation_id}",
    response=OperationOut,
    operation_id="operation",
    summary="One of them, with its parts",
)
def operation(request: HttpRequest, operation_id: int) -> OperationOut:
    user = asker(request)
    found = selectors_operations.rows_by_pk(user, [operation_id]) if 0 < operation_id <= LARGEST_PK else []
    if not found:
        raise Refused(404, NOTHING)
    return OperationOut.of(selectors_operations.as_rows(user, found)[0])


@router.post(
    "/operations/{int:operation_id}/retry", response=ACTED, operation_id="retry", summary="Have the server do it again"
)
def retry(request: HttpRequest, operation_id: int) -> Status[Any] | HttpResponse:
    return _acted(request, operation_id, "retry")


@router.post(
    "/operations/{int:operation_id}/cancel",
    response=ACTED,
    operation_id="cancel",
    summary="Stop it, or what of it is not finished; what has begun may still store facts",
)
def cancel(request: HttpRequest, operation_id: int) -> Status[Any] | HttpResponse:
    return _acted(request, operation_id, "cancel")


@router.post(
    "/operations/{int:operation_id}/forget",
    response=ACTED,
    operation_id="forget",
    summary="Have the server drop its record of what has ended",
)
def forget(request: HttpRequest, operation_id: int) -> Status[Any] | HttpResponse:
    return _acted(request, operation_id, "forget")


def _acted(request: HttpRequest, pk: int, act: acts.Act) -> Status[Any] | HttpResponse:
    def do() -> tuple[int, ActOut]:
        user = asker(request)
        row = _row(user, pk)
        access.require(user, row.bank, acts.ROLES[act])
        plan = acts.plan(user=user, act=act, rows=[row])
        if not plan.do:
            raise Refused(409, " ".join(why for _, why in plan.left))
        if len(plan.do) > AT_ONCE:
            return 202, ActOut(writes=[], job=acts.start(user=user, act=act, rows=plan.do).pk)
        group = uuid4() if len(plan.do) > 1 else None
        made = [acts.record(user=user, act=act, row=each, group=group, via=Write.Via.API) for each in plan.do]
        return 202, ActOut(writes=[each.pk for each in made], job=None)

    return once(request, do)


def _row(user: User, pk: int) -> OperationSeen:
    """An operation or a part of one."""
    found = selectors_operations.picked(user, [pk], None, acts.ROLES["retry"]) if 0 < pk <= LARGEST_PK else []
    if not found:
        raise Refused(404, NOTHING)
    return found[0]

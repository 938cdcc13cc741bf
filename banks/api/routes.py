"""Endpoints: who am I, which banks, what happened, what became of a write."""

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

from django.http import HttpRequest
from ninja import Query, Router

from banks import access, log_index, selectors, selectors_log
from banks.api.asking import LONGEST_ID, Ambiguous, asker, bank_named, cursor_of, moment
from banks.api.shapes import BankOut, BankPageOut, LogPageOut, MeOut, RowOut, WriteOut
from banks.log_filters import LogFilters
from banks.models import Role
from memadmin.accounts.models import User
from memadmin.api.errors import Refused
from memadmin.paging import page_of

router = Router(tags=["banks"])
DEFAULT_LIMIT, MOST = 50, 200
Limit = Annotated[int, Query(ge=1, le=MOST)]
Text = Annotated[str, Query(max_length=LONGEST_ID)]
LARGEST_PK = 2**63 - 1
# As banks.log_filters has them; "" is any.
State = Literal["", "attention", "flight", "unknown", "retrying", "done", "cancelled"]
Via = Literal["", "web", "api", "cli", "import", "expiry", "housekeeping", "reapply", "webhook", "observed"]


@router.get("/me", response=MeOut, operation_id="me", summary="The token that asks")
def me(request: HttpRequest) -> MeOut:
    return MeOut.of(asker(request))


@router.get("/banks", response=BankPageOut, operation_id="banks", summary="The banks that the token may see")
def banks(request: HttpRequest, cursor: Text = "", limit: Limit = DEFAULT_LIMIT) -> BankPageOut:
    user = asker(request)
    if cursor and not (cursor.isascii() and cursor.isdigit() and len(cursor) < 18):
        raise Refused(422, "`cursor` is not one that was given out here.", fields=[])
    rows = access.banks_for(user).select_related("server").filter(pk__gt=int(cursor or 0)).order_by("pk")
    found = list(rows[: limit + 1])
    more, found = len(found) > limit, found[:limit]
    roles = access.roles_on(user, found)
    seen = [BankOut.of(bank, roles.get(bank.pk, Role.VIEWER)) for bank in found]
    return BankPageOut(banks=seen, next=str(found[-1].pk) if more else None)


@router.get("/log", response={200: LogPageOut, 409: Ambiguous}, operation_id="log", summary="The write log")
def log(
    request: HttpRequest,
    bank: Text = "",
    server: Text = "",
    document: Text = "",
    fact: Text = "",
    kind: Annotated[str, Query(max_length=30)] = "",
    state: State = "",
    via: Via = "",
    who: Annotated[str, Query(max_length=150)] = "",
    group: UUID | None = None,
    q: Annotated[str, Query(max_length=200)] = "",
    since: datetime | None = None,
    until: datetime | None = None,
    cursor: Text = "",
    limit: Limit = DEFAULT_LIMIT,
) -> LogPageOut:
    user = asker(request)
    if (document or fact or server) and not bank:
        raise Refused(422, "`server`, `document` and `fact` need `bank`.", fields=[])
    one = str(bank_named(user, bank, server).pk) if bank else ""
    if q and not log_index.has_words(q):
        raise Refused(422, "`q` needs at least one letter or digit.", fields=[])
    asked = {"kind": kind, "bank": one, "document": document, "fact": fact, "state": state, "via": via, "q": q}
    asked |= {"who": _person(who), "group": str(group) if group else ""}
    listed = LogFilters(**{name: value.replace("\x00", "") for name, value in asked.items()}).listed(user)
    rows = listed.rows.prefetch_related("bank__server", "token").defer(*selectors_log.HEAVY)
    if since is not None:
        rows = rows.filter(occurred_at__gte=moment(since))
    if until is not None:
        rows = rows.filter(occurred_at__lt=moment(until))
    page = page_of(rows, selectors_log.LOG_ORDER, cursor_of(cursor), limit, listed.split)
    return LogPageOut(rows=[RowOut.of(row) for row in page.rows], next=page.later or None)


def _person(who: str) -> str:
    """As the filters take it: their number, or "me"; one that nobody has, for a name that nobody has."""
    if who in {"", "me"}:
        return who
    found = User.objects.filter(username=who.replace("\x00", "")).values_list("pk", flat=True).first()
    return str(found or 0)


@router.get("/writes/{int:write_id}", response=WriteOut, operation_id="write", summary="What became of a write")
def write(request: HttpRequest, write_id: int) -> WriteOut:
    if not 0 < write_id <= LARGEST_PK:
        raise Refused(404, "No such row.")
    return WriteOut.in_full(selectors.get_write(asker(request), write_id))

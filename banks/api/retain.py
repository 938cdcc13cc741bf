"""Endpoints: memories into a bank, and what became of one."""

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from ninja import Router, Schema
from ninja.responses import Status
from pydantic import ConfigDict, Field, StrictBool

from banks import retain
from banks.api.asking import LONGEST_ID, asker, bank_named
from banks.api.once import once
from banks.api.refusals import NotTaken, refusals
from banks.api.routes import LARGEST_PK
from banks.models import RetainItem, Role, Write
from banks.retain import params, selectors
from banks.retain.scope import GLOBAL, LONGEST_PROJECT
from memadmin.api.errors import Refused

router = Router(tags=["retain"])
Word = Annotated[str, Field(min_length=1, max_length=params.LONGEST_WORD)]

# Of the bank, while a program waits for its answer.
READ = ("hold", "retain_context", "gone_since", "server__writes_paused")


class EntityIn(Schema):
    model_config = ConfigDict(extra="forbid")

    text: Word
    type: Word | None = None


class ItemIn(Schema):
    """One memory. `timestamp`: ISO 8601, "unset", or nothing for now; `context`: null is that of the bank. Metadata are
    texts; null drops one. `append` needs a `document_id`."""

    model_config = ConfigDict(extra="forbid")

    content: Annotated[str, Field(min_length=1)]
    timestamp: Annotated[str, Field(max_length=params.LONGEST["timestamp"])] | None = None
    context: Annotated[str, Field(max_length=params.LONGEST["context"])] | None = None
    metadata: dict[str, str | None] | None = None
    document_id: Annotated[str, Field(max_length=params.LONGEST["document_id"])] | None = None
    update_mode: Literal["replace", "append"] | None = None
    entities: Annotated[list[EntityIn], Field(max_length=params.MOST_ENTITIES)] | None = None
    resolve_entities: StrictBool | None = None
    tags: Annotated[list[Word], Field(max_length=params.MOST_TAGS)] | None = None
    observation_scopes: (
        Literal["combined", "shared", "per_tag", "all_combinations"]
        | Annotated[list[list[Word]], Field(max_length=params.MOST_SCOPES)]
        | None
    ) = None
    strategy: Annotated[str, Field(max_length=params.LONGEST["strategy"])] | None = None


class RetainIn(Schema):
    """`scope`, `project`: where a project's memories go. `session_id` goes into the metadata of items without one.
    `operation_id`: the request is one operation of that id; repeating it changes nothing, another body is refused.
    `user_bank`: the bank is a person's; nothing else writes there, and nothing of a project."""

    model_config = ConfigDict(extra="forbid")

    bank: Annotated[str, Field(min_length=1, max_length=LONGEST_ID)]
    server: Annotated[str, Field(max_length=100)] = ""
    items: Annotated[list[ItemIn], Field(min_length=1)]
    scope: Literal["global", "per-project", "per-project-tagged"] = GLOBAL  # type: ignore[assignment]
    project: Annotated[str, Field(max_length=LONGEST_PROJECT)] = ""
    session_id: Annotated[str, Field(max_length=params.LONGEST_WORD)] = ""
    document_tags: Annotated[list[Word], Field(max_length=params.MOST_TAGS)] = []
    operation_id: UUID | None = None
    user_bank: StrictBool = False


class QueuedOut(Schema):
    """`id`: ask for it at `/retain/{id}`."""

    id: int
    document_id: str


class RetainOut(Schema):
    """The rows are stored, and nothing was sent yet: "2 memories queued.", or "2 memories held for review." where a
    reviewer has to approve them first. `notes`: what was changed, or what they wait for."""

    count: int
    message: str
    items: list[QueuedOut]
    notes: list[str]


class ItemOut(Schema):
    """`state`: held (for review), queued, sent, done, attention or discarded. `write`: the row of the batch; `facts`:
    null = not known."""

    id: int
    bank: str
    server: str
    document_id: str
    state: str
    queued_at: datetime
    seen_at: datetime | None
    facts: int | None
    write: int | None
    write_state: str | None
    operation_id: UUID | None
    error: str

    @classmethod
    def of(cls, item: RetainItem) -> "ItemOut":
        write = item.write
        return cls(
            id=item.pk,
            bank=item.bank.bank_id,
            server=item.bank.server.name,
            document_id=item.document_id,
            state=item.state,
            queued_at=item.queued_at,
            seen_at=item.seen_at,
            facts=item.fact_count,
            write=write.pk if write else None,
            write_state=write.state if write else None,
            operation_id=write.operation_id if write else item.operation_id,
            error=item.error,
        )


@router.post(
    "/retain",
    response={202: RetainOut, 409: NotTaken},
    operation_id="retain",
    summary="Queue memories for a bank",
)
def queue(request: HttpRequest, body: RetainIn) -> Status[Any] | HttpResponse:
    def act() -> tuple[int, RetainOut]:
        user = asker(request)
        bank = bank_named(user, body.bank, body.server, Role.REVIEWER, only=READ)
        with refusals():
            queued = retain.enqueue(
                user=user,
                bank=bank,
                items=retain.parse([item.model_dump(exclude_unset=True) for item in body.items]),
                via=Write.Via.API,
                mode=body.scope,
                project=body.project,
                session_id=body.session_id,
                document_tags=params.tags(body.document_tags, "document_tags"),
                operation_id=body.operation_id,
                user_bank=body.user_bank,
            )
        items = [QueuedOut(id=item.pk, document_id=item.document_id) for item in queued.items]
        return 202, RetainOut(count=queued.count, message=queued.message, items=items, notes=queued.notes)

    return once(request, act)


@router.get("/retain/{int:item_id}", response=ItemOut, operation_id="retained", summary="What became of a memory")
def state(request: HttpRequest, item_id: int) -> ItemOut:
    if not 0 < item_id <= LARGEST_PK:
        raise Refused(404, "No such memory.")
    return ItemOut.of(selectors.get_item(asker(request), item_id))

"""Endpoints: the blocks that agents put at the beginning of a session, read from the bank while the agent waits."""

from typing import Annotated

from django.http import HttpRequest, HttpResponse
from ninja import Query, Router, Schema
from pydantic import Field

from banks.api.asking import LONGEST_ID, Ambiguous, asker, bank_named
from banks.api.etags import tagged
from banks.api.routes import Text
from banks.blocks import agents
from banks.blocks.lengths import tame
from banks.models import Bank
from banks.reading import Unread
from memadmin.api.errors import Problem, Refused

router = Router(tags=["blocks"])
Named = Annotated[str, Query(min_length=1, max_length=LONGEST_ID)]
Tag = Annotated[str, Field(max_length=1_000)]
MOST_TAGS = 64
RETRY_AFTER = "10"  # seconds


class ModelPartOut(Schema):
    """`state`: whole, cut or left-out. `chars`: of its whole text; `given`: of those, how many are in the block."""

    id: str
    name: str
    state: str
    chars: int
    given: int


class ModelsBlockOut(Schema):
    """`block`: to be put before the prompt as it is, never longer than `max_chars`; lengths are UTF-16 units, as
    JavaScript counts. Where it is "", `reason` is no-models or limit-too-small, and `why` a sentence. `models`: those
    with a text, by name; `hidden`: how many the tags do not see; `unwritten`: how many have no text yet; `unlisted`:
    how many were not looked at. `stale`: the bank could not be read just now, for the reason `unread`, and this is what
    it said as long ago as the header `Age` says."""

    block: str
    chars: int
    max_chars: int
    reason: str
    why: str
    models: list[ModelPartOut]
    hidden: int
    unwritten: int
    unlisted: int
    stale: bool
    unread: str

    @classmethod
    def of(cls, told: agents.ModelsBlock, most: int) -> "ModelsBlockOut":
        parts = [
            ModelPartOut(id=tame(each.id), name=each.name, state=each.state, chars=each.chars, given=each.given)
            for each in told.block.parts
        ]
        return cls(
            block=told.block.text,
            chars=told.block.chars,
            max_chars=most,
            reason=told.block.reason,
            why=told.why,
            models=parts,
            hidden=told.hidden,
            unwritten=told.unwritten,
            unlisted=told.unlisted,
            stale=bool(told.unread),
            unread=told.unread,
        )


@router.get(
    "/blocks/mental-models",
    response={200: ModelsBlockOut, 304: None, 409: Ambiguous, 503: Problem},
    operation_id="models_block",
    summary="The mental models of a bank as one block of text, within a limit",
    description="With `tags`, models that have tags are there where they share one; those without always are. "
    "The answer is the same as long as the texts are: `If-None-Match` with its `ETag` is answered by 304.",
)
def mental_models(
    request: HttpRequest,
    bank: Named,
    server: Text = "",
    max_chars: Annotated[int, Query(ge=0, le=agents.LARGEST)] = agents.MOST_CHARS,
    tags: Annotated[list[Tag], Query(max_length=MOST_TAGS)] = [],  # noqa: B006  # ninja copies it
) -> HttpResponse:
    where = bank_named(asker(request), bank, server)
    try:
        told = agents.block_of(where, most=max_chars, tags=tags)
    except Unread as unread:
        raise unreadable(where, unread) from unread
    return tagged(request, ModelsBlockOut.of(told, max_chars), age=told.age)


def unreadable(bank: Bank, unread: Unread) -> Refused:
    """Never an empty block: an agent that has one from before keeps it."""
    if unread.face in ("bank", "missing"):
        return Refused(404, unread.sentence)
    said = f"{unread.sentence} What the bank holds is not known just now."
    return Refused(503, said, headers={"Retry-After": RETRY_AFTER})

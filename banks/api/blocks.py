"""Endpoints: the blocks that agents put at the beginning of a session, read from the bank while the agent waits."""

from typing import Annotated

from django.http import HttpRequest, HttpResponse, JsonResponse
from ninja import Query, Router, Schema
from pydantic import Field

from banks.api.asking import LONGEST_ID, Ambiguous, asker, bank_named
from banks.api.etags import TEXT_TOO, bare, tagged, wants_text
from banks.api.routes import Text
from banks.blocks import agents, frozen, markers
from banks.blocks.lengths import tame
from banks.blocks.markers import Marker
from banks.models import FrozenBlock, Job
from banks.reading import Unread
from memadmin.api.errors import Problem, Refused

router = Router(tags=["blocks"])
Named = Annotated[str, Query(min_length=1, max_length=LONGEST_ID)]
Tag = Annotated[str, Field(max_length=1_000)]
MOST_TAGS = 64
LONGEST_MARKER = 4_000
RECALLING = "The bank is being asked. Ask again in a moment."
RETRY_AFTER, SOON = "10", "2"  # seconds
AS_TEXT = (
    "With `Accept: text/plain` it is the block alone, byte for byte; the headers `Block-Reason` (why it is empty) and "
    "`Block-Stale` say the rest. Refusals are JSON all the same."
)


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
    "The answer is the same as long as the texts are: `If-None-Match` with its `ETag` is answered by 304. "
    f"{AS_TEXT}",
    openapi_extra={"responses": {200: TEXT_TOO}},
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
        raise _unreadable(unread) from unread
    headers = _headers(told.block.reason, told.unread)
    return tagged(request, ModelsBlockOut.of(told, max_chars), text=told.block.text, age=told.age, headers=headers)


class ProfileBlockOut(Schema):
    """`block`: to stand where the marker stood; "" for the `reason` no-facts, nothing-fits, no-text or no-model, which
    `why` says in a sentence: then the marker goes, and nothing comes. It has at most 4,000 UTF-16 units in all.
    `marker`: as it was understood, on one line. `facts` are in it, `left_out` did not fit, `unlisted` were not looked
    at; `shortened`: of a model's text there is only the beginning. `stale`: the bank could not be read at the beginning
    of this epoch, for the reason `unread`, and this is the block of an earlier one. The header `Age` has its age."""

    block: str
    chars: int
    marker: str
    facts: int
    left_out: int
    unlisted: int
    shortened: bool
    reason: str
    why: str
    stale: bool
    unread: str

    @classmethod
    def of(cls, block: FrozenBlock, marker: Marker) -> "ProfileBlockOut":
        told = frozen.told_of(block)
        same = ("facts", "left_out", "unlisted", "shortened", "reason", "why")
        return cls(
            **{name: getattr(told, name) for name in same},
            block=block.text,
            chars=frozen.chars_of(block),
            marker=str(marker),
            stale=bool(block.stale),
            unread=block.stale,
        )


class RecallingOut(Schema):
    """The bank is being asked by a worker: ask again, the same, after `Retry-After` seconds."""

    detail: str


@router.get(
    "/blocks/user-profile",
    response={200: ProfileBlockOut, 202: RecallingOut, 304: None, 409: Ambiguous, 503: Problem},
    operation_id="user_block",
    summary="What a bank says about a person, frozen for an epoch",
    description="`marker` is a marker as it stands in AGENTS.md, in any of its three forms. `epoch` is a key that the "
    "program chooses for what is between two boundaries, such as a session, or what follows a compaction: as long as "
    "it is the same, so is the answer. A marker with `query` is answered by 202 until a worker has asked the bank. "
    f"{AS_TEXT}",
    openapi_extra={"responses": {200: TEXT_TOO, 202: TEXT_TOO}},
)
def user_profile(
    request: HttpRequest,
    bank: Named,
    epoch: Annotated[str, Query(min_length=1, max_length=200)],
    marker: Annotated[str, Query(max_length=LONGEST_MARKER)] = str(markers.FACTS),
    server: Text = "",
) -> HttpResponse:
    user = asker(request)
    where = bank_named(user, bank, server)
    asked = _marker(marker)
    try:
        block = frozen.block_for(user=user, bank=where, marker=asked, epoch=epoch)
    except Unread as unread:
        raise _unreadable(unread) from unread
    except frozen.NotRecalled as error:
        raise Refused(503, str(error), headers={"Retry-After": RETRY_AFTER}) from error
    if isinstance(block, Job):
        return _recalling(request)
    headers = _headers(frozen.told_of(block).reason, block.stale)
    age = frozen.age_of(block)
    return tagged(request, ProfileBlockOut.of(block, asked), text=block.text, age=age, headers=headers)


def _recalling(request: HttpRequest) -> HttpResponse:
    """As text it is empty: whatever a program takes for the block, it is no sentence of ours."""
    headers = {"Retry-After": SOON}
    if wants_text(request):
        return bare("", status=202, headers=headers)
    return JsonResponse({"detail": RECALLING}, status=202, headers=headers)


def _headers(reason: str, unread: str) -> dict[str, str]:
    """What a program that takes the bare text has to know: why it is empty, and that it is an older one."""
    return ({"Block-Reason": reason} if reason else {}) | ({"Block-Stale": "1"} if unread else {})


def _marker(text: str) -> Marker:
    try:
        return markers.read(text)
    except markers.Refused as refused:
        fields = [{"path": "query.marker", "problem": str(refused)}]
        raise Refused(422, f"The marker is refused. {refused}", fields=fields) from refused


def _unreadable(unread: Unread) -> Refused:
    """Never an empty block: an agent that has one from before keeps it."""
    if unread.face in ("bank", "missing"):
        return Refused(404, unread.sentence)
    said = f"{unread.sentence} What the bank holds is not known just now."
    return Refused(503, said, headers={"Retry-After": RETRY_AFTER})

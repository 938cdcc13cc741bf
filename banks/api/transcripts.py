"""Endpoint: a session of an agent into a bank."""

import io
from typing import Annotated, Any, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Router, Schema
from ninja.responses import Status
from pydantic import Field

from banks.api.asking import LONGEST_ID, asker, bank_named
from banks.api.once import once
from banks.api.refusals import NotTaken, refusals
from banks.models import Role, Write
from banks.retain import scope
from banks.services.transcripts import Prepared, retain_transcript
from banks.transcripts import FULL, Plan
from banks.transcripts.windows import EVERY, MOST_OVERLAP, MOST_TURNS, OVERLAP

router = Router(tags=["retain"])
MOST_SKIPPED = 50


class TranscriptIn(Schema):
    """`transcript`: the file as text, JSON Lines. `session_id`: where the file names none. `scope`, `project`: where a
    project's memories go, as for a retain. A person's bank takes no transcripts."""

    bank: Annotated[str, Field(min_length=1, max_length=LONGEST_ID)]
    server: Annotated[str, Field(max_length=100)] = ""
    transcript: Annotated[str, Field(min_length=1)]
    format: Literal["", "pi", "claude-code", "plain"] = ""
    mode: Literal["full-session", "last-turn"] = FULL  # type: ignore[assignment]  # the same words
    every: Annotated[int, Field(ge=1, le=MOST_TURNS)] = EVERY
    overlap: Annotated[int, Field(ge=0, le=MOST_OVERLAP)] = OVERLAP
    session_id: Annotated[str, Field(max_length=200)] = ""
    tags: Annotated[list[str], Field(max_length=64)] = []
    scope: Literal["global", "per-project", "per-project-tagged"] = scope.GLOBAL  # type: ignore[assignment]
    project: Annotated[str, Field(max_length=1_000)] = ""


class DocumentOut(Schema):
    """`turns` are new in it, `repeated` ones are in an earlier document too."""

    id: str
    turns: int
    repeated: int
    bytes: int


class SkippedOut(Schema):
    what: str
    count: int


class TranscriptOut(Schema):
    """What was queued, and what of the file was left out: `skipped`, `blocks` (of memories) and `bad_lines`."""

    count: int
    message: str
    format: str
    session_id: str
    documents: list[DocumentOut]
    skipped: list[SkippedOut]
    blocks: int
    bad_lines: int
    notes: list[str]


@router.post(
    "/retain/transcript",
    response={202: TranscriptOut, 409: NotTaken},
    operation_id="retain_transcript",
    summary="Retain what was said in a session",
)
def transcript(request: HttpRequest, body: TranscriptIn) -> Status[Any] | HttpResponse:
    def act() -> tuple[int, TranscriptOut]:
        user = asker(request)
        bank = bank_named(user, body.bank, body.server, Role.REVIEWER)
        with refusals():
            prepared, queued = retain_transcript(
                user=user,
                bank=bank,
                stream=io.BytesIO(body.transcript.encode()),
                plan=Plan(body.mode, body.every, body.overlap, body.session_id),
                via=Write.Via.API,
                format_=body.format,
                tags=body.tags,
                mode=body.scope,
                project=body.project,
            )
        return 202, _said(prepared, queued.message, queued.notes)

    return once(request, act)


def _said(prepared: Prepared, message: str, notes: list[str]) -> TranscriptOut:
    session, documents = prepared.session, prepared.documents
    return TranscriptOut(
        count=len(documents),
        message=message,
        format=session.format,
        session_id=session.id,
        documents=[
            DocumentOut(id=each.id, turns=each.turns, repeated=each.repeated, bytes=each.size) for each in documents
        ],
        skipped=[SkippedOut(what=what, count=count) for what, count in session.skipped.most_common(MOST_SKIPPED)],
        blocks=session.blocks,
        bad_lines=session.bad_count,
        notes=notes,
    )

"""Endpoints about facts."""

from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Router, Schema
from ninja.responses import Status
from pydantic import Field

from banks.api.asking import LONGEST_ID, Ambiguous, asker, bank_named
from banks.api.once import once
from banks.models import Role, Write
from memadmin.api.errors import Refused
from memadmin.api.parser import clean
from reviews.evidence import NoVerdicts, parse_reply
from reviews.services import kills

router = Router(tags=["facts"])
MOST_CANDIDATES, MOST_VERDICTS = 200, 500
LONGEST_REPLY, LONGEST_TRANSCRIPT, LONGEST_FACT = 200_000, 2_000_000, 100_000  # characters
NO_SERVER = "No server can address this bank: its id holds a slash."


class CandidateIn(Schema):
    """A fact that the model was shown. With its `text`, it is retired only while it says that."""

    id: Annotated[str, Field(min_length=1, max_length=300)]
    text: Annotated[str, Field(max_length=LONGEST_FACT)] = ""
    type: Annotated[str, Field(max_length=30)] = ""


class RetireIn(Schema):
    """What a model says about facts, and the evidence: each quote is looked for in the transcript.

    Either `reply`, the model's answer as it came, which must be `{"verdicts": […]}` and nothing else, or its
    `verdicts`: objects with `verdict` ("contradicts" counts), `id` and `quote`.
    """

    bank: Annotated[str, Field(min_length=1, max_length=LONGEST_ID)]
    server: Annotated[str, Field(max_length=100)] = ""
    transcript: Annotated[str, Field(max_length=LONGEST_TRANSCRIPT)]
    candidates: Annotated[list[CandidateIn], Field(min_length=1, max_length=MOST_CANDIDATES)]
    reply: Annotated[str, Field(max_length=LONGEST_REPLY)] | None = None
    verdicts: Annotated[list[Any], Field(max_length=MOST_VERDICTS)] | None = None


class CandidateOut(Schema):
    """`write`: the row of the write log that retires it, `GET /writes/{id}`; else `why` there is none."""

    id: str
    accepted: bool
    why: str
    write: int | None


class RetireOut(Schema):
    """One result for each candidate, in their order."""

    results: list[CandidateOut]


@router.post(
    "/facts/retire",
    response={202: RetireOut, 409: Ambiguous},
    operation_id="retire",
    summary="Retire facts that a transcript contradicts",
)
def retire(request: HttpRequest, body: RetireIn) -> Status[Any] | HttpResponse:
    def act() -> tuple[int, RetireOut]:
        user = asker(request)
        bank = bank_named(user, body.bank, body.server, Role.REVIEWER)
        if not bank.addressable:
            raise Refused(422, NO_SERVER, fields=[])
        found = kills.retire(
            user=user,
            bank=bank,
            candidates=[kills.Candidate(each.id, each.text, each.type) for each in body.candidates],
            verdicts=_verdicts(body),
            transcript=body.transcript,
            via=Write.Via.API,
        )
        return 202, RetireOut(results=[_said(each) for each in found])

    return once(request, act)


def _verdicts(body: RetireIn) -> list[Any]:
    if (body.reply is None) == (body.verdicts is None):
        raise Refused(422, "Either `reply` or `verdicts`.", fields=[])
    if body.reply is None:
        return body.verdicts or []
    try:
        return list(clean(parse_reply(body.reply)))
    except NoVerdicts as error:
        raise Refused(422, f"Nothing was retired. {error}", fields=[]) from error


def _said(found: kills.Verdict) -> CandidateOut:
    write = found.write
    return CandidateOut(id=found.id, accepted=write is not None, why=found.why, write=write.pk if write else None)

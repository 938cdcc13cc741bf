"""Endpoints: the seeds, and making their models in banks where they are missing."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from ninja import Router
from ninja.responses import Status

from banks import access
from banks.api.asking import Ambiguous, asker, bank_named
from banks.api.once import once
from banks.api.routes import LARGEST_PK
from banks.api.seeding_shapes import BegunOut, SeedingIn, SeedingOut, SeedOut, SeedRowOut, SeedsOut
from banks.models import Job, Role, Write
from banks.retain.scope import TAGGED
from banks.seeds import job as seeding
from banks.seeds import library
from banks.seeds.job import Asked
from memadmin.accounts.models import User
from memadmin.api.errors import Problem, Refused

router = Router(tags=["mental models"])
NO_JOB = "There is no such seeding, or it is not one of this token's owner."


@router.get("/seeds", response=SeedsOut, operation_id="seeds", summary="The seeds there are")
def seeds(request: HttpRequest) -> SeedsOut:
    asker(request)
    return SeedsOut(seeds=[SeedOut.of(spec) for spec in library.every()])


@router.post(
    "/seedings",
    response={202: BegunOut, 409: Ambiguous},
    operation_id="seed",
    summary="Make the models of seeds in banks, where they are missing; or only say which",
)
def seed(request: HttpRequest, body: SeedingIn) -> Status[Any] | HttpResponse:
    def do() -> tuple[int, BegunOut]:
        user = asker(request)
        asked = _asked(user, body)
        start = seeding.preview if body.dry_run else seeding.create
        return 202, BegunOut(id=start(user=user, asked=asked, via=Write.Via.API).pk)

    return once(request, do)


@router.get(
    "/seedings/{int:seeding_id}",
    response={200: SeedingOut, 404: Problem},
    operation_id="seeding",
    summary="How far a seeding is, and what became of each seed in each bank",
)
def one(request: HttpRequest, seeding_id: int) -> SeedingOut:
    user = asker(request)
    work = Job.objects.filter(pk=min(seeding_id, LARGEST_PK), kind=seeding.KIND, owner=user).first()
    if work is None:
        raise Refused(404, NO_JOB)
    named = {
        bank.pk: bank for bank in access.banks_for(user).select_related("server").filter(pk__in=work.params["banks"])
    }
    rows = [
        SeedRowOut.of(row, named[row.bank].bank_id, named[row.bank].server.name)
        for row in seeding.rows_of(work)
        if row.bank in named
    ]
    return SeedingOut.of(work, rows)


def _asked(user: User, body: SeedingIn) -> Asked:
    """Raises Refused: 404, 403 or 409 for a bank, 422 for the rest."""
    banks = [bank_named(user, each.bank, each.server, Role.ADMIN).pk for each in body.banks]
    if body.scope == TAGGED and not body.project.replace("\0", "").strip():
        raise Refused(422, "A tagged scope needs `project`: whose models they are.", fields=[])
    known = {spec.id for spec in library.every()}
    if unknown := [each for each in body.seeds if each not in known]:
        raise Refused(422, f"There is no seed of the id {unknown[0][:100]}.", fields=[])
    return Asked(list(dict.fromkeys(banks)), body.scope, body.project, body.seeds)

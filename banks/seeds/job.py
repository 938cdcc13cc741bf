"""Seeding as a job: a preview that only reads, and the making, which records one write for each missing model.

Both judge afresh, bank by bank. What is made after a preview is only what the preview said would be made: a model that
appeared since is left alone, and one that vanished since is not made unseen.
"""

import json
from collections.abc import Container, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from django.db import transaction
from django.utils import timezone

from banks import access, connections, jobs, selectors_models, writes
from banks.crypto import CannotDecrypt
from banks.hindsight import HindsightClient, HindsightError, MentalModel
from banks.models import Bank, Blob, Job, JobItem, Role, Write
from banks.seeds import library
from banks.seeds.planning import CREATE, EXISTS, REFRESH, UNSCOPED, Judged, Wanted, drift, judge, wanted
from banks.seeds.shape import SeedSpec
from banks.services.refusal import fingerprint
from memadmin.accounts.models import User

KIND = "seed-models"
MOST_BANKS = 500
READ_TIMEOUT = 60.0  # seconds; models of a bank may be many
UNDER_WAY, LEFT = "under-way", "left"

NO_RIGHT = "Your role on this bank is not admin any more."
PERSONAL = "This is a person's bank: nothing is seeded there."
NOT_ADDRESSABLE = "No call can name this bank: its id has a slash."
NO_BANK = "The bank is not on its server. None was made: create it first."
PAUSED = "The server does not answer just now, so it was not asked."
NOT_IN_PREVIEW = "It would be made now, and the preview did not say so. Preview again."
SEED_CHANGED = "The seed was changed since the preview. Preview again."
IS_THERE_NOW = "It has appeared since the preview."
IN_QUEUE = "A row of the write log makes it already, or waits for a person to."


@dataclass(frozen=True)
class Asked:
    """What is to be seeded. `seeds`: ids, empty for all that fit the scope; `project`: for a tagged scope.

    What no database stores of a project's name, which may be any path of a machine, is not taken.
    """

    banks: Sequence[int]
    mode: str
    project: str = ""
    seeds: Sequence[str] = ()

    def as_params(self) -> dict[str, Any]:
        project = self.project.replace("\0", "").encode("utf-8", "replace").decode()
        return {"banks": list(self.banks), "mode": self.mode, "project": project, "seeds": list(self.seeds)}


@dataclass(frozen=True)
class Row:
    """What a seed comes to in a bank. `model` empty: it is about the whole bank; `write`: the row that makes it.

    definition: stands for all that the seed said, so that nothing else is made of it after a preview.
    """

    bank: int
    status: str
    reason: str = ""
    seed: str = ""
    name: str = ""
    model: str = ""
    tags: Sequence[str] = ()
    found_tags: Sequence[str] = ()
    differs: Sequence[str] = ()
    max_tokens: int = 0
    by_itself: bool = False
    definition: str = ""
    write: int | None = None

    @classmethod
    def of(cls, item: JobItem) -> "Row":
        return cls(**json.loads(bytes(item.raw)), status=item.outcome, reason=item.reason)


@dataclass
class _Bank:
    """One bank while it is worked on: what to record for it and what to say."""

    rows: list[Row] = field(default_factory=list)
    make: list[tuple[Wanted, Row]] = field(default_factory=list)


def preview(*, user: User, asked: Asked, via: Write.Via = Write.Via.WEB, here: bool = False) -> Job:
    """Reads, and writes nothing anywhere."""
    return _start(user, asked, via, here, preview=True, title="Preview of seeding")


def create(*, user: User, asked: Asked, via: Write.Via = Write.Via.WEB, here: bool = False) -> Job:
    """Makes what is missing now, without a preview: for programs, which asked for just that."""
    return _start(user, asked, via, here, title="Seeding")


@transaction.atomic
def follow(*, user: User, previewed: Job) -> Job:
    """Makes what a preview said. However often it is asked: one job for each preview."""
    Job.objects.filter(pk=previewed.pk).update(kind=KIND)  # a second one waits here, and then sees the first
    if (before := Job.objects.filter(kind=KIND, owner=user, params__after=previewed.pk).first()) is not None:
        return before
    asked = {name: previewed.params[name] for name in ("banks", "mode", "project", "seeds")}
    picks = [[row.bank, row.seed, row.definition] for row in rows_of(previewed) if row.status == CREATE]
    return _start(user, Asked(**asked), Write.Via.WEB, False, title="Seeding", after=previewed.pk, picks=picks)


def rows_of(job: Job) -> list[Row]:
    return [Row.of(item) for item in job.items.order_by("number")]


def _start(user: User, asked: Asked, via: Write.Via, here: bool, *, title: str, **more: Any) -> Job:
    many = f"{len(asked.banks):,} {'bank' if len(asked.banks) == 1 else 'banks'}"
    params = {**asked.as_params(), "via": str(via), **more}
    return jobs.start(kind=KIND, owner=user, title=f"{title}, {many}", params=params, here=here)


def _run(run: jobs.Run) -> dict[str, Any]:
    keys, seeds = run.params["banks"], _seeds_of(run)
    while (at := run.cursor.get("at", 0)) < len(keys):
        worked = _one(run, keys[at], seeds)
        cursor = {"at": at + 1, "said": run.cursor.get("said", 0) + _said(worked)}
        with run.step(done=at + 1, cursor=cursor, total=len(keys)):
            _keep(run, keys[at], worked)
    counts: dict[str, int] = {}
    for outcome in run.job.items.values_list("outcome", flat=True):
        counts[outcome] = counts.get(outcome, 0) + 1
    return {"banks": len(keys), **{name.replace("-", "_"): count for name, count in sorted(counts.items())}}


def _said(worked: _Bank) -> int:
    return len(worked.rows) + len(worked.make)


def _seeds_of(run: jobs.Run) -> list[SeedSpec]:
    """As they are now; ids that are no seed any more are nothing."""
    only = run.params["seeds"]
    return [spec for spec in library.every() if not only or spec.id in only]


def _one(run: jobs.Run, pk: int, seeds: Sequence[SeedSpec]) -> _Bank:
    """Looks at one bank, and stores nothing."""
    bank = Bank.objects.select_related("server").filter(pk=pk).first()
    if bank is None or not _allowed(run, bank):
        return _Bank([Row(pk, LEFT, NO_RIGHT)])
    for refused, why in ((bank.personal, PERSONAL), (not bank.addressable, NOT_ADDRESSABLE)):
        if refused:
            return _Bank([Row(pk, LEFT, why)])
    if connections.paused_until(bank.server):
        return _Bank([Row(pk, LEFT, PAUSED)])
    try:
        with connections.talking_to(bank.server, read_timeout=READ_TIMEOUT) as client:
            return _look(run, client, bank, seeds)
    except (HindsightError, CannotDecrypt) as error:
        return _Bank([Row(pk, LEFT, str(error)[:300])])


def _allowed(run: jobs.Run, bank: Bank) -> bool:
    """Asked anew for each bank: a role may go while the job runs."""
    if run.params.get("policy"):
        return True
    role = access.role_on(jobs.person_of(run.job), bank)
    return role is not None and role >= Role.ADMIN


def _look(run: jobs.Run, client: HindsightClient, bank: Bank, seeds: Sequence[SeedSpec]) -> _Bank:
    if not client.has_bank(bank.bank_id):
        Bank.objects.filter(pk=bank.pk, gone_since=None).update(gone_since=timezone.now())
        return _Bank([Row(bank.pk, LEFT, NO_BANK)])
    models = {model.id: model for model in client.all_mental_models(bank.bank_id)}
    waiting, pins = _under_way(bank), selectors_models.pins_of(bank)
    worked = _Bank()
    for spec in seeds:
        meant = wanted(spec, mode=run.params["mode"], project=run.params["project"])
        if meant is None:
            worked.rows.append(Row(bank.pk, UNSCOPED, "It is not meant for this scope.", spec.id, spec.name))
            continue
        judged = judge(meant, models)
        row = _row(bank, judged, _differences(client, bank, judged, pins))
        _place(run, worked, judged, row, waits=meant.model_id in waiting)
    return worked


def _under_way(bank: Bank) -> set[str]:
    """Ids of models that are being made there."""
    rows = Write.objects.filter(bank=bank, kind="seed", state__in=[*Write.OPEN, Write.State.ATTENTION])
    return {str(params.get("model")) for params in rows.values_list("params", flat=True)}


def _differences(client: HindsightClient, bank: Bank, judged: Judged, pins: Container[str]) -> list[str]:
    """Lists tell of names and tags alone, so what is there is read one by one: as many as there are seeds, at most."""
    if judged.found is None:
        return []
    model: MentalModel = client.get_mental_model(bank.bank_id, judged.found.id)
    pinned = model.id in pins
    return [f"{each} (it is pinned)" if pinned and each == REFRESH else each for each in drift(judged.wanted, model)]


def _row(bank: Bank, judged: Judged, differs: list[str]) -> Row:
    seed = judged.wanted.seed
    return Row(
        bank.pk,
        judged.status,
        seed=seed.id,
        name=seed.name,
        model=judged.found.id if judged.found else judged.wanted.model_id,
        tags=judged.wanted.tags,
        found_tags=judged.found.tags if judged.found else (),
        differs=differs,
        max_tokens=seed.max_tokens,
        by_itself=bool(seed.trigger.get("refresh_after_consolidation")),
        definition=fingerprint(seed.as_json()),
    )


def _place(run: jobs.Run, worked: _Bank, judged: Judged, row: Row, *, waits: bool) -> None:
    picks = run.params.get("picks")
    seen = {(bank, seed): definition for bank, seed, definition in picks or ()}
    picked = picks is None or (row.bank, row.seed) in seen
    if row.status != CREATE:
        reason = IS_THERE_NOW if picks is not None and picked and row.status == EXISTS else ""
        worked.rows.append(_as(row, row.status, reason))
    elif waits:
        worked.rows.append(_as(row, UNDER_WAY, IN_QUEUE))
    elif run.params.get("preview"):
        worked.rows.append(row)
    elif not picked:
        worked.rows.append(_as(row, LEFT, NOT_IN_PREVIEW))
    elif picks is not None and seen[row.bank, row.seed] != row.definition:
        worked.rows.append(_as(row, LEFT, SEED_CHANGED))
    else:
        worked.make.append((judged.wanted, row))


def _as(row: Row, status: str, reason: str, write: int | None = None) -> Row:
    return Row(**{**_kept(row), "write": write}, status=status, reason=reason)


def _kept(row: Row) -> dict[str, Any]:
    return {each.name: getattr(row, each.name) for each in fields(row) if each.name not in ("status", "reason")}


def _keep(run: jobs.Run, pk: int, worked: _Bank) -> None:
    """Inside the step: what is to be made is recorded with the progress, so no repetition records it twice."""
    rows = list(worked.rows)
    for meant, row in worked.make:
        rows.append(_as(row, CREATE, "", _record(run, pk, meant)))
    first = run.cursor.get("said", 0) + 1
    for number, row in enumerate(rows, first):
        raw = json.dumps(_kept(row), ensure_ascii=False).encode("utf-8", "replace")
        JobItem.objects.create(job=run.job, number=number, outcome=row.status, reason=row.reason[:300], raw=raw)


def _record(run: jobs.Run, pk: int, meant: Wanted) -> int:
    seed = meant.seed
    params = {
        "seed": seed.id,
        "model": meant.model_id,
        "name": seed.name,
        "tags": list(meant.tags),
        "max_tokens": seed.max_tokens,
        "trigger": dict(seed.trigger),
        "job": run.job.pk,
    }
    bank = Bank.objects.select_related("server").get(pk=pk)
    actor = None if run.params.get("policy") else run.job.owner
    question = Blob.objects.store(seed.source_query)
    via = Write.Via(run.params["via"])
    return writes.record(kind="seed", bank=bank, via=via, actor=actor, request=question, params=params).pk


jobs.register(KIND, _run)

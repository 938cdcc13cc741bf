"""What a bank would draw from memories, asked without storing them: a job, since models take their time."""

import json
from dataclasses import dataclass
from typing import Any

from django.utils import timezone

from banks import access, connections, jobs
from banks.hindsight import (
    DryRun,
    Extraction,
    HindsightClient,
    HindsightError,
    Invalid,
    NotFound,
    Retired,
    ServerFault,
    Timeout,
)
from banks.models import Bank, Blob, Job, JobItem, Role
from banks.retain import Planned
from banks.retain.params import UNSET
from memadmin.accounts.models import User
from memadmin.retention import head_of

KIND = "retain-dry-run"
READ_TIMEOUT = 150.0  # seconds; a work that stores nothing for longer than 180 counts as hanging
FACTS_KEPT, TEXT_KEPT, NAMES_KEPT = 200, 1_000, 20  # of one memory; bytes; of one fact
NO_METHOD = 405

NO_RIGHT = "You may not retain into this bank any more."
NO_BANK = "The bank is not on its server. Nothing was asked: a dry run there would tell of no bank at all."
NOT_OFFERED = "This server offers no dry run. Nothing was stored. It said: "
TOO_LONG = f"The server did not answer within {READ_TIMEOUT:.0f} seconds. Nothing was stored. Try it with less text."


@dataclass(frozen=True)
class Tried:
    """What became of one memory. `facts`: [{text, type, entities, occurred}]; `refused`: the server's words."""

    place: int
    facts: list[dict[str, Any]]
    omitted: int
    chunks: int
    tokens: int
    refused: str


def start(*, user: User, planned: Planned) -> Job:
    """The one that is under way, when these very memories are being tried by this person already."""
    keys = Blob.objects.store_many(item.content for item in planned.items)
    asked = [
        {
            "text": keys[item.content],
            "context": row.context or "",
            "timestamp": item.timestamp or "",
            "strategy": row.strategy,
        }
        for row, item in zip(planned.rows, planned.items, strict=True)
    ]
    params = {"bank": planned.bank.pk, "items": asked}
    for job in Job.objects.filter(kind=KIND, owner=user).exclude(state__in=Job.ENDED).order_by("-pk"):
        if job.params == params:
            return job
    return jobs.start(kind=KIND, owner=user, title=f"Dry run for {planned.bank}", params=params)


def results_of(job: Job) -> list[Tried]:
    """Of those memories that were tried by now."""
    return [_tried(item) for item in job.items.order_by("number")]


def _tried(item: JobItem) -> Tried:
    told = json.loads(bytes(item.raw))
    return Tried(item.number, told["facts"], told["omitted"], told["chunks"], told["tokens"], item.reason)


def _run(run: jobs.Run) -> dict[str, Any]:
    bank = Bank.objects.select_related("server").filter(pk=run.params["bank"]).first()
    role = access.role_on(run.job.owner, bank) if bank else None
    if bank is None or role is None or role < Role.REVIEWER:
        raise jobs.JobError(NO_RIGHT)
    try:
        with connections.talking_to(bank.server, read_timeout=READ_TIMEOUT) as client:
            return _ask(run, client, bank)
    except Timeout:
        raise jobs.JobError(TOO_LONG) from None
    except HindsightError as error:
        raise jobs.JobError(f"{error} Nothing was stored.") from error


def _ask(run: jobs.Run, client: HindsightClient, bank: Bank) -> dict[str, Any]:
    if not client.has_bank(bank.bank_id):
        Bank.objects.filter(pk=bank.pk, gone_since=None).update(gone_since=timezone.now())
        raise jobs.JobError(NO_BANK)
    asked = run.params["items"]
    while (at := run.cursor.get("at", 0)) < len(asked):
        told, refused = _one(client, bank, asked[at])
        with run.step(done=at + 1, cursor={"at": at + 1}, total=len(asked)):
            raw = json.dumps(told, ensure_ascii=False).encode("utf-8", "replace")
            outcome = "refused" if refused else "extracted"
            JobItem.objects.create(job=run.job, number=at + 1, outcome=outcome, reason=refused, raw=raw)
    return {"memories": len(asked)}


def _one(client: HindsightClient, bank: Bank, asked: dict[str, str]) -> tuple[dict[str, Any], str]:
    text = Blob.objects.get(pk=asked["text"])
    # Without a time the server is told that of the dry run, as the queue does with its own; "unset" is none at all.
    moment = None if asked["timestamp"] == UNSET else asked["timestamp"] or timezone.now().isoformat()
    about = DryRun(text.text, asked["context"], moment, asked["strategy"] or None)
    try:
        return _bounded(client.dry_run(bank.bank_id, about)), ""
    except (NotFound, Retired) as error:
        raise jobs.JobError(f"{NOT_OFFERED}{error.detail}") from error
    except (Invalid, ServerFault) as error:
        if error.status == NO_METHOD:
            raise jobs.JobError(f"{NOT_OFFERED}{error.detail}") from error
        return _bounded(Extraction([], 0, 0)), error.detail[:300]


def _bounded(found: Extraction) -> dict[str, Any]:
    facts = [
        {
            "text": head_of(each.text, TEXT_KEPT).text,
            "type": each.type[:40],
            "entities": [name[:100] for name in each.entities[:NAMES_KEPT]],
            "occurred": each.occurred[:40],
        }
        for each in found.facts[:FACTS_KEPT]
    ]
    return {
        "facts": facts,
        "omitted": len(found.facts) - len(facts),
        "chunks": found.chunks,
        "tokens": found.tokens,
    }


jobs.register(KIND, _run)

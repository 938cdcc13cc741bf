"""Queue files for tests, as the tool writes them."""

import io
import json
from pathlib import Path
from typing import Any

from banks import jobs
from banks.models import Job, Server
from memadmin.accounts.models import User
from memadmin.jsonlines import Skipped, read_lines
from reviews.importing.job import start_import
from reviews.importing.lines import LONGEST_LINE, parse
from reviews.models import Decision, ReviewEntry

DATA = Path(__file__).parent.parent / "data"
URL = "http://memory.example:8888"


def add(document_id: str, **values: Any) -> str:
    fields = {
        "ev": "add",
        "docId": document_id,
        "bank": "checkout-service",
        "baseUrl": URL,
        "namespace": "default",
        "project": "/home/ann/checkout",
        "reason": "compact",
        "language": "en",
        "ts": "2026-08-19T10:00:00.000Z",
        **values,
    }
    return json.dumps({key: value for key, value in fields.items() if value is not None}, ensure_ascii=False)


def done(document_id: str, **values: Any) -> str:
    fields = {"ev": "done", "docId": document_id, "action": "approved", "ts": "2026-08-19T11:00:00.000Z", **values}
    return json.dumps({key: value for key, value in fields.items() if value is not None}, ensure_ascii=False)


def as_bytes(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")


def events_of(lines: list[str] | bytes) -> list[Any]:
    data = lines if isinstance(lines, bytes) else as_bytes(lines)
    found = [parse(line.data) for line in read_lines(io.BytesIO(data), LONGEST_LINE)]
    return [event for event in found if event is not None and not isinstance(event, Skipped)]


def import_lines(lines: list[str] | bytes, owner: User, machine: str = "ann's laptop", **values: Any) -> Job:
    """Imports and runs the job to its end, as a worker would."""
    data = lines if isinstance(lines, bytes) else as_bytes(lines)
    job = start_import(owner=owner, machine=machine, chunks=[data], **values)
    jobs.run(job.pk)
    job.refresh_from_db()
    return job


def state_of_things(server: Server) -> dict[str, Any]:
    """Everything an import decides, without numbers that only count attempts."""
    return {
        (entry.bank.bank_id, entry.document_id): (
            entry.state,
            entry.load_state,
            entry.enqueued_at,
            entry.age_from,
            entry.expires_at,
            entry.project,
            entry.reason,
            entry.language,
            entry.decided_via,
            entry.decided_at,
            [
                (decision.verdict, decision.decided_via, decision.at)
                for decision in Decision.objects.filter(entry=entry).order_by("pk")
            ],
            sorted(entry.source_events.values_list("line", "state")),
        )
        for entry in ReviewEntry.objects.filter(bank__server=server).select_related("bank")
    }


def entry(document_id: str) -> ReviewEntry:
    return ReviewEntry.objects.get(document_id=document_id)


def counts(job: object) -> dict[str, int]:
    result = job.result  # type: ignore[attr-defined]
    return {name: number for name, number in result.items() if number and name not in ("lines", "pending_in_the_tool")}

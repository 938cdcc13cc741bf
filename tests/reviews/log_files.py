"""Files as an agent's tool writes its log, for tests."""

import json
import re
from pathlib import Path
from typing import Any

from banks import jobs
from banks.models import Bank, Job, Write
from memadmin.accounts.models import User
from reviews.importing.log_job import start_log_import

DATA = Path(__file__).parent.parent / "data" / "log"  # recorded from the tool itself
CUT = "a" * 20_000 + "…"  # as its writer cuts
HALF = re.compile("[\ud800-\udfff]")
TS = "2026-08-19T10:04:00.000Z"
KILL_A = {"id": "fact-a", "quote": "We removed the exporter for good.", "text": "The exporter writes the nightly dump."}
KILL_B = {"id": "fact-b", "quote": "Port 5001 became 6001 today.", "text": "The queue listens on port 5001."}


def entry(kind: str, ts: str | None = TS, **values: Any) -> str:
    fields = {"ts": ts, "type": kind, **values}
    text = json.dumps({name: value for name, value in fields.items() if value is not None}, ensure_ascii=False)
    return HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", text)  # no UTF-8 holds half a character: it is escaped


def retire(*kills: dict[str, Any], **values: Any) -> str:
    return entry("invalidate", kills=list(kills), **values)


def restore(*kills: dict[str, Any], **values: Any) -> str:
    return entry("restore", kills=list(kills), **values)


def recall(query: str = "run migrations", **values: Any) -> str:
    return entry(
        "recall",
        **{
            "user": "how do we run it? My password is hunter2.",
            "query": query,
            "operation": "recall",
            "filter": "model",
            "found": 12,
            "injected": 3,
            "skipped": 1,
            "reason": "bank recalled facts",
            "injectedText": "- The exporter writes the nightly dump.",
            "rawHits": ["The exporter writes the nightly dump.", "The queue listens on port 5001."],
            **values,
        },
    )


def retained(text: str | None = "- Ann pays.", **values: Any) -> str:
    return entry(
        "retain", **{"reason": "inline", "chunks": 1, "documents": 1, "lines": 9, "documentText": text} | values
    )


def as_bytes(lines: list[str] | bytes) -> bytes:
    return (
        lines if isinstance(lines, bytes) else "".join(f"{each}\n" for each in lines).encode("utf-8", "surrogatepass")
    )


def import_log(lines: list[str] | bytes, user: User, bank: Bank) -> Job:
    """Imports and runs the job to its end, as a worker would."""
    job = start_log_import(user=user, bank_id=bank.pk, chunks=[as_bytes(lines)])
    jobs.run(job.pk)
    job.refresh_from_db()
    return job


def rows() -> list[Write]:
    """What was imported, in the order of the file."""
    return list(Write.objects.filter(via=Write.Via.IMPORT).order_by("pk"))

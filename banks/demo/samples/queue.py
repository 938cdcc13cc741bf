"""The review queue file that belongs to the sample memories."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

from banks.demo.samples.content import SampleBank, load

_UNDATED = frozenset({"dana-lunch", "atlas-tr-dotless-i"})
_BADLY_DATED = frozenset({"mayak-imena"})
_DECIDED = "plat-naming"
_LEGACY = frozenset({"pay-refund-window"})  # from before the file named languages


def sample_queue(base_url: str, now: datetime) -> list[str]:
    """Lines of a `review-queue.jsonl` about every sample document, oldest first, without line ends.

    Ages go from minutes to almost seven days. Two lines have no date and one a senseless one, one document is decided,
    one line is torn, and one names a document that does not exist.
    """
    dated = [(document.age, _add(bank, document.id, document.age, base_url, now)) for bank, document in _documents()]
    lines = [json.dumps(event, ensure_ascii=False) for _, event in sorted(dated, key=lambda pair: -pair[0])]
    lines.append(
        json.dumps({"ev": "done", "docId": _DECIDED, "action": "approved", "ts": _when(now - timedelta(hours=3))})
    )
    bank = next(bank for bank in load() if bank.bank_id == "payments")
    lines.append(json.dumps(_add(bank, "pay-never-stored", timedelta(hours=30), base_url, now), ensure_ascii=False))
    lines.append('{"ev":"add","docId":"pay-torn-line","bank":"payme')
    return lines


def _documents() -> list[tuple[SampleBank, Any]]:
    return [(bank, document) for bank in load() for document in bank.documents]


def _add(bank: SampleBank, document_id: str, age: timedelta, base_url: str, now: datetime) -> dict[str, str]:
    document = next((each for each in bank.documents if each.id == document_id), None)
    event = {
        "ev": "add",
        "docId": document_id,
        "bank": bank.bank_id,
        "baseUrl": base_url,
        "namespace": "default",
        "project": bank.project,
        "reason": document.reason if document else "compact",
        "language": document.language if document else bank.language,
        "ts": _when(now - age),
    }
    if document_id in _LEGACY:
        del event["language"]
    if document_id in _UNDATED:
        del event["ts"]
    if document_id in _BADLY_DATED:
        event["ts"] = "last Tuesday"
    return event


def _when(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

"""What a server has made of a file: a conversion, then an extraction, then a document.

The server names the conversion in its answer, and nothing can be named before. So what was there is noted down before
the file is sent, and after a lost answer what has come since is looked for, by the document's id, which is ours alone
to choose. The extraction is named by nobody, and is found in the same way.
"""

from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from banks.hindsight import HindsightClient, Operation
from banks.hindsight.errors import one_line
from banks.models import Write
from banks.writes import Done, StillWorking, Stuck

CONVERSION, EXTRACTION = "file_convert_retain", "retain"  # types of operations
RUNNING = ("pending", "processing")
LOOKED_AT = 300  # of the newest operations of a type
LONGEST_SAID = 300  # characters of an error
VISIBLE_WITHIN = timedelta(seconds=60)  # what the server calls done is in its lists a moment later
OVERDUE_AFTER = timedelta(hours=25)  # longer than any provider's batch
BEFORE, DOCUMENT_BEFORE = "before", "document_before"
# Of one attempt: forgotten before another.
OF_AN_ATTEMPT = frozenset(
    {BEFORE, DOCUMENT_BEFORE, "operation", "extraction", "stage", "status", "ended", "refused", "server_says"}
)

KEPT = "The file is kept here: retry, or discard this."
VANISHED = "The server took the file, and now knows neither of its operations; the document is not in the bank."


def note_before(client: HindsightClient, write: Write) -> dict[str, Any]:
    """How it is before anything is sent, as part of the outcome; what an earlier attempt had noted is left out."""
    listed = [operation.id for kind in (CONVERSION, EXTRACTION) for operation in _about(client, write, kind)]
    kept = {name: value for name, value in write.outcome.items() if name not in OF_AN_ATTEMPT}
    return {**kept, BEFORE: listed, DOCUMENT_BEFORE: _stamp(client, write)}


def follow(client: HindsightClient, write: Write) -> Done | StillWorking | Stuck | None:
    """None: as far as the server tells, nothing was begun since `note_before`."""
    conversion = _known(client, write, "operation", CONVERSION)
    if conversion is None:
        return None
    told: dict[str, Any] = {"operation": conversion.id}
    if not conversion.not_found:
        if not conversion.terminal:
            return _working(write, {**told, "stage": "converting", "status": conversion.status})
        if conversion.raw_status != "completed":
            said = _sentence(conversion.error or f"it ended as {conversion.status}")
            text = f"The server could not turn the file into text: {said} Nothing of it is in the bank. {KEPT}"
            return Stuck(text, {**told, "status": conversion.status, "refused": "conversion"})
    return _extracted(client, write, told)


def _extracted(client: HindsightClient, write: Write, told: dict[str, Any]) -> Done | StillWorking | Stuck:
    extraction = _known(client, write, "extraction", EXTRACTION)
    if extraction is not None and not extraction.not_found:
        told = {**told, "extraction": extraction.id}
        if not extraction.terminal:
            says = {"server_says": extraction.error} if extraction.error else {}
            return _working(write, {**told, **says, "stage": "extracting", "status": extraction.status})
        if extraction.raw_status != "completed":
            said = _sentence(extraction.error or f"it ended as {extraction.status}")
            text = f"The file was turned into text, and the server could not retain that: {said} {KEPT}"
            return Stuck(text, {**told, "status": extraction.status, "refused": "extraction"})
    elif _busy(client, write):  # which of them is ours cannot be told
        return _working(write, {**told, "stage": "extracting", "status": "processing"})
    return _landed(client, write, told, sure=extraction is not None and not extraction.not_found)


def _landed(client: HindsightClient, write: Write, told: dict[str, Any], *, sure: bool) -> Done | StillWorking | Stuck:
    """`sure`: the server says that it is stored. Else the document has to be another than before."""
    found = client.find_document(write.bank.bank_id, write.document_id)
    if found is not None and (sure or _moment(found.updated_at) != write.outcome.get(DOCUMENT_BEFORE)):
        return Done(
            {
                **told,
                "status": "completed",
                "content_hash": found.content_hash,
                "text_length": found.text_length,
                "facts": found.fact_count,
                "zero_facts": found.fact_count == 0,
            }
        )
    since = write.outcome.get("ended") or timezone.now().isoformat()
    if timezone.now() < datetime.fromisoformat(since) + VISIBLE_WITHIN:
        return StillWorking({**told, "stage": "extracting", "status": "looking for the document", "ended": since})
    return Stuck(f"{VANISHED} {KEPT}", told)


def _sentence(said: str) -> str:
    """Foreign words, before ours: of an error the line that says what it was, not where in the server."""
    line = one_line(next((line for line in said.splitlines() if line.strip()), ""), LONGEST_SAID)
    return line if line.endswith((".", "!", "?", "…")) else f"{line}."


def _working(write: Write, told: dict[str, Any]) -> StillWorking:
    overdue = timezone.now() - (write.sent or write.created) > OVERDUE_AFTER
    return StillWorking({**told, "overdue": True} if overdue else told)


def _known(client: HindsightClient, write: Write, name: str, kind: str) -> Operation | None:
    """The operation noted under `name`, else the newest of this document that is new."""
    if known := write.outcome.get(name):
        return client.get_operation(write.bank.bank_id, known)
    before = set(write.outcome.get(BEFORE, []))
    return next((each for each in _about(client, write, kind) if each.id not in before), None)


def _about(client: HindsightClient, write: Write, kind: str) -> list[Operation]:
    page = client.walk_operations(write.bank.bank_id, type=kind, exclude_parents=True, most=LOOKED_AT)
    return [each for each in page.items if each.document_id == write.document_id]


def _busy(client: HindsightClient, write: Write) -> bool:
    lists = (client.list_operations(write.bank.bank_id, status=status, type=EXTRACTION, limit=1) for status in RUNNING)
    return any(page.items for page in lists)


def _stamp(client: HindsightClient, write: Write) -> str:
    found = client.find_document(write.bank.bank_id, write.document_id)
    return "" if found is None else _moment(found.updated_at)


def _moment(moment: datetime | None) -> str:
    return moment.isoformat() if moment else "unknown"

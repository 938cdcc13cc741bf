"""Bringing documents of an export into a bank: first a preview, a job that only reads; then what was chosen, another.

Documents alone are brought: servers extract the facts anew, and take none. They go through the queue of retains, as
everything does. Nothing that exists is written to unless that was chosen, and then only what is as it was seen.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, BinaryIO

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from banks import access, connections, jobs, kept_files
from banks.crypto import CannotDecrypt
from banks.documents import document_or_none
from banks.hindsight import Document, HindsightClient, HindsightError
from banks.models import Bank, Job, JobItem, Role, Write
from banks.retain import BankClosed, Refused, queueing
from banks.retain.params import Item
from banks.transfer.reading import Line, lines_of
from memadmin.accounts.models import User

PREVIEW, KIND = "bank-preview", "bank-import"
FILE = "transfer"  # of kept files
KEPT = timedelta(hours=24)
LINES_AT_ONCE, DOCUMENTS_AT_ONCE = 500, 20
LOT_BYTES = 4 * 1024 * 1024
SHOWN = 100
CREATE, EXISTS, DIFFERS, REFUSED, AGAIN = "create", "exists", "differs", "refused", "again"
QUEUED, CHANGED = "queued", "changed"
GONE = "The bank is gone from its server."
NO_EXPORT = "This is no export of a bank: its first line does not say so."
LOST = "The file was thrown away. Choose it again."


def preview(*, user: User, bank_id: int, chunks: Iterable[bytes], most: int) -> Job:
    """Keeps the file and looks what it would do. 404 / 403 as `access.get_bank` for admins; kept_files.TooLarge."""
    bank = access.get_bank(user, bank_id, Role.ADMIN)
    forget()
    name = kept_files.keep(chunks, kind=FILE, most=most)
    with transaction.atomic():
        params = {"bank": bank.pk, "file": name}
        return jobs.start(kind=PREVIEW, owner=user, title=f"Preview of an import into {bank}", params=params)


def start(*, user: User, bank_id: int, preview_id: int, replace: bool) -> Job:
    """What a preview showed, once. `replace`: write also to documents that differ. JobError when it cannot be."""
    bank = access.get_bank(user, bank_id, Role.ADMIN)
    with transaction.atomic():
        Job.objects.filter(pk=preview_id, kind=PREVIEW).update(
            kind=PREVIEW
        )  # a second one waits here, and then sees the first
        seen = previews_of(user, bank).filter(pk=preview_id, state=Job.State.DONE).first()
        if seen is None:
            raise jobs.JobError("There is no such preview. Choose the file again.")
        if (begun := import_of(seen)) is not None:
            return begun
        params = {"bank": bank.pk, "file": seen.params["file"], "preview": seen.pk, "replace": replace}
        return jobs.start(kind=KIND, owner=user, title=f"Import into {bank}", params=params)


def previews_of(user: User, bank: Bank) -> QuerySet[Job]:
    """Newest first."""
    return Job.objects.filter(kind=PREVIEW, owner=user, params__bank=bank.pk).order_by("-pk")


def import_of(seen: Job) -> Job | None:
    return Job.objects.filter(kind=KIND, params__preview=seen.pk).first()


def forget(now: datetime | None = None) -> int:
    """Throws files away that nobody has come back to for a day."""
    recent = Job.objects.filter(kind__in=[PREVIEW, KIND], created__gte=(now or timezone.now()) - KEPT)
    return kept_files.remove_strays(FILE, {params["file"] for params in recent.values_list("params", flat=True)})


def run_preview(run: jobs.Run) -> dict[str, Any]:
    """The handler. Each step stores what some lines would do; the bank is only read."""
    bank, counts = _bank(run), Counter(run.cursor.get("counts", {}))
    number, offset = run.cursor.get("number", 0), run.cursor.get("offset", 0)
    met = set(_ids(run.job))
    with _reading(bank) as client, _opened(run) as stream:
        lines = lines_of(stream, number=number, offset=offset)
        while lot := list(_lot(lines)):
            if number == 0 and (lot[0].kind != "head" or lot[0].why):
                raise jobs.JobError(NO_EXPORT)
            items = [_foreseen(run, client, bank, line, met) for line in lot if line.kind in ("document", "")]
            counts.update(line.kind for line in lot if line.kind != "document")
            counts.update(item.outcome for item in items)
            number, offset = lot[-1].number, lot[-1].end
            with run.step(done=number, cursor={"number": number, "offset": offset, "counts": counts}):
                JobItem.objects.bulk_create(items)
    if number == 0:
        raise jobs.JobError(NO_EXPORT)
    return {"counts": counts, "lines": number}


def run_import(run: jobs.Run) -> dict[str, Any]:
    """The handler. A step queues some documents, and stores in the same transaction that they are queued."""
    bank, person = _bank(run), jobs.person_of(run.job)
    seen = Job.objects.get(pk=run.params["preview"])
    wanted = {CREATE, DIFFERS} if run.params["replace"] else {CREATE}
    total = seen.items.filter(outcome__in=wanted).count()
    number, offset = run.cursor.get("number", 0), run.cursor.get("offset", 0)
    with _reading(bank) as client, _opened(run) as stream:
        lines = lines_of(stream, number=number, offset=offset)
        while lot := list(_lot(lines)):
            plan = seen.items.filter(number__in=[line.number for line in lot], outcome__in=wanted)
            foreseen = {item.number: item for item in plan}
            found = [_now(run, client, bank, line, foreseen[line.number]) for line in lot if line.number in foreseen]
            number, offset = lot[-1].number, lot[-1].end
            with run.step(done=run.job.done + len(found), total=total, cursor={"number": number, "offset": offset}):
                _queue(person, bank, found)
                JobItem.objects.bulk_create([item for item, _ in found])
    outcomes = Counter(run.job.items.values_list("outcome", flat=True))
    return {"counts": outcomes}


def tidy(job: Job) -> None:
    kept_files.remove(job.params["file"])


def tidy_preview(job: Job) -> None:
    if job.state != Job.State.DONE:
        tidy(job)


def _lot(lines: Iterator[Line]) -> Iterator[Line]:
    """Few documents, and not too much text, or many other lines."""
    documents = weight = 0
    for line in islice(lines, LINES_AT_ONCE):
        yield line
        documents += line.kind == "document"
        weight += len(line.item.content) if line.item else 0
        if documents >= DOCUMENTS_AT_ONCE or weight >= LOT_BYTES:
            return


def _foreseen(run: jobs.Run, client: HindsightClient, bank: Bank, line: Line, met: set[bytes]) -> JobItem:
    raw = line.document_id.encode("utf-8", "replace")[:2_000]
    outcome, reason = REFUSED, line.why
    if line.item is not None:
        there = document_or_none(client, bank.bank_id, line.document_id)
        outcome, reason = (AGAIN, "") if raw in met else _compared(there, line.item)
        met.add(raw)
    return JobItem(job=run.job, number=line.number, outcome=outcome, reason=reason[:300], raw=raw)


def _compared(there: Document | None, item: Item) -> tuple[str, str]:
    """The reason of a difference is the state it was seen in."""
    if there is None:
        return CREATE, ""
    return (EXISTS, "") if there.text == item.content else (DIFFERS, there.content_hash)


def _now(run: jobs.Run, client: HindsightClient, bank: Bank, line: Line, seen: JobItem) -> tuple[JobItem, Item | None]:
    """Decided on the preview, looked at once more: nothing is written to what is not as it was seen."""
    there = document_or_none(client, bank.bank_id, line.document_id)
    as_seen = there is None if seen.outcome == CREATE else there is not None and there.content_hash == seen.reason
    outcome = QUEUED if as_seen and line.item else CHANGED
    item = JobItem(job=run.job, number=line.number, outcome=outcome, raw=bytes(seen.raw))
    return item, line.item if outcome == QUEUED else None


def _queue(person: User, bank: Bank, found: list[tuple[JobItem, Item | None]]) -> None:
    items = [item for _, item in found if item is not None]
    if not items:
        return
    try:
        queueing.enqueue(user=person, bank=bank, items=items, via=Write.Via.WEB, user_bank=bank.personal)
    except (Refused, BankClosed) as refused:
        raise jobs.JobError(f"{refused} What was queued until then stays.") from refused


def _bank(run: jobs.Run) -> Bank:
    bank = Bank.objects.select_related("server").filter(pk=run.params["bank"]).first()
    if bank is None or bank.gone_since is not None or not bank.addressable:
        raise jobs.JobError(GONE)
    access.require(jobs.person_of(run.job), bank, Role.ADMIN)
    return bank


def _ids(job: Job) -> Iterator[bytes]:
    """Ids of the documents that were met so far."""
    return (bytes(raw) for raw in job.items.values_list("raw", flat=True).iterator())


@contextmanager
def _reading(bank: Bank) -> Iterator[HindsightClient]:
    try:
        with connections.talking_to(bank.server) as client:
            yield client
    except (HindsightError, CannotDecrypt) as error:
        raise jobs.JobError(f"The bank could not be read: {error} Nothing more was queued.") from error


@contextmanager
def _opened(run: jobs.Run) -> Iterator[BinaryIO]:
    try:
        with kept_files.opened(run.params["file"]) as stream:
            yield stream
    except FileNotFoundError:
        raise jobs.JobError(LOST) from None


jobs.register(PREVIEW, run_preview, after=tidy_preview)
jobs.register(KIND, run_import, after=tidy)

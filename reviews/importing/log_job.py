"""The import of a log.jsonl as a job: read line by line, stored in short transactions, reported line by line."""

import itertools
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from django.db import OperationalError
from django.db.models import Count

from banks import access, jobs
from banks.models import Bank, Job, JobItem, Role, Write
from memadmin.accounts.models import User
from memadmin.jsonlines import RawLine, Skipped, read_lines
from reviews.importing import files
from reviews.importing.job import KEPT_OF_A_LINE, SKIPPED, TRIES
from reviews.importing.log_lines import LONGEST_LINE, parse
from reviews.importing.log_rows import Identities, Row, row_of
from reviews.importing.log_store import store

KIND = "import-log"
ROWS_PER_STEP = jobs.ROWS_PER_STEP  # of all tables; a single line may bring more
BYTES_PER_STEP = 2 * LONGEST_LINE
BLOCK = 1024 * 1024


def start_log_import(*, user: User, bank_id: int, chunks: Iterable[bytes], here: bool = False) -> Job:
    """Keeps the file and queues its import into this bank, since the file itself names none. `here` as in `jobs.start`.

    404 for strangers of the bank, 403 for those who may only look. Raises files.TooLarge.
    """
    access.get_bank(user, bank_id, Role.REVIEWER)
    files.remove_strays()
    return start_kept(files.keep(chunks), user=user, bank_id=bank_id, here=here)


def start_kept(name: str, *, user: User, bank_id: int, here: bool = False) -> Job:
    """As `start_log_import`, of a file that was kept already (files.keep) and belongs to the job from now on."""
    try:
        bank = access.get_bank(user, bank_id, Role.REVIEWER)
        params = {"file": name, "bank": bank.pk, "group": str(uuid.uuid4())}
        return jobs.start(kind=KIND, owner=user, title=f"Log of an agent in {bank}", params=params, here=here)
    except BaseException:
        files.remove(name)
        raise


@dataclass(slots=True)
class _Tally:
    """What the lines are, all of the file."""

    lines: int = 0
    blank: int = 0
    skipped: int = 0
    entries: int = 0
    clipped: int = 0
    undated: int = 0

    def count(self, found: Row | JobItem | None) -> None:
        self.lines += 1
        if isinstance(found, Row):
            self.entries += 1
            self.clipped += "clipped" in found.outcome
            self.undated += "undated" in found.outcome
        elif found is None:
            self.blank += 1
        else:
            self.skipped += 1


@dataclass(slots=True)
class _Lot:
    """Lines that are stored together."""

    rows: list[Row] = field(default_factory=list)
    skipped: list[JobItem] = field(default_factory=list)
    lines: int = 0
    cost: int = 0  # rows of the database
    size: int = 0  # bytes

    def takes(self, cost: int, size: int) -> bool:
        return not self.lines or (self.cost + cost <= ROWS_PER_STEP and self.size + size <= BYTES_PER_STEP)


def run_import(run: jobs.Run) -> dict[str, Any]:
    """The handler. Killed anywhere, it reads from the beginning and stores what is missing."""
    job = run.job
    bank = Bank.objects.select_related("server").filter(pk=run.params["bank"]).first()
    if job.owner is None or bank is None:
        raise jobs.JobError("The person who sent the file, or the bank, is gone.")
    if (access.role_on(job.owner, bank) or 0) < Role.REVIEWER:
        raise jobs.JobError("You may not review this bank any more, so nothing more of the file is stored.")
    try:
        stream = files.opened(run.params["file"])
    except FileNotFoundError as error:
        raise jobs.JobError("The uploaded file is gone. Send it again.") from error
    tally = _Tally()
    with stream:
        run.heartbeat(total=_lines_in(stream))
        for lot in _lots(stream, tally, job, Identities(bank)):
            _store(run, lot, bank, done=tally.lines)
    return _report(job, bank, tally)


def _store(run: jobs.Run, lot: _Lot, bank: Bank, *, done: int) -> None:
    """One lot, in one transaction. What an earlier start has stored is not looked for again."""
    if done <= run.cursor.get("lines", 0):
        run.heartbeat()
        return
    for attempt in range(1, TRIES + 1):
        try:
            with run.step(done=done, cursor={"lines": done}):
                store(lot.rows, bank=bank, group=uuid.UUID(run.params["group"]))
                JobItem.objects.bulk_create(lot.skipped, ignore_conflicts=True)
            return
        except OperationalError:  # two imports that wait for each other
            if attempt == TRIES:
                raise


def _lots(stream: BinaryIO, tally: _Tally, job: Job, identities: Identities) -> Iterator[_Lot]:
    lot = _Lot()
    for line in read_lines(stream, LONGEST_LINE):
        found = _read(line, job, identities)
        cost, size = found.cost if isinstance(found, Row) else 1, len(line.data)
        if not lot.takes(cost, size):
            yield lot
            lot = _Lot()
        if isinstance(found, Row):
            lot.rows.append(found)
        elif found is not None:
            lot.skipped.append(found)
        tally.count(found)
        lot.lines, lot.cost, lot.size = lot.lines + 1, lot.cost + cost, lot.size + size
    if lot.lines:
        yield lot


def _read(line: RawLine, job: Job, identities: Identities) -> Row | JobItem | None:
    """The row of a line, the item of the report about a bad one, or None for a blank one."""
    found = parse(line.data)
    if found is None:
        return None
    if isinstance(found, Skipped):
        raw = line.data[:KEPT_OF_A_LINE]
        return JobItem(job=job, number=line.number, outcome=SKIPPED, reason=found.reason, raw=raw)
    row = row_of(found, identity=identities.of(found), line=line.number, imported_at=job.created)
    row.params["import"] = job.pk
    return row


def _lines_in(stream: BinaryIO) -> int:
    """Counts them without holding one, and goes back to the beginning."""
    blocks = itertools.takewhile(bool, (stream.read(BLOCK) for _ in itertools.count()))
    ends, last = 0, b"\n"
    for block in blocks:
        ends, last = ends + block.count(b"\n"), block[-1:]
    stream.seek(0)
    return ends + (last != b"\n")


def _report(job: Job, bank: Bank, tally: _Tally) -> dict[str, Any]:
    """Every line counts once: accepted, known, skipped or blank. What is accepted by kind, too."""
    brought = Write.objects.filter(group=job.params["group"], via=Write.Via.IMPORT).order_by()
    kinds = Counter(dict(brought.values_list("kind").annotate(n=Count("pk"))))
    joined = brought.filter(kind="retain").exclude(document_id="").count()
    return {
        "lines": tally.lines,
        "accepted": kinds.total(),
        "known": max(tally.entries - kinds.total(), 0),
        "skipped": tally.skipped,
        "blank": tally.blank,
        "clipped": tally.clipped,
        "undated": tally.undated,
        "joined": joined,
        "kinds": dict(kinds),
        "bank": bank.pk,
    }


def _tidy(job: Job) -> None:
    files.remove(str(job.params["file"]))


jobs.register(KIND, run_import, after=_tidy)

"""The import as a job: reads the whole file, then stores it in short transactions, and reports line by line."""

import mmap
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import Any

from django.db import IntegrityError, OperationalError, transaction
from django.db.models import Count

from banks import jobs
from banks.models import Job, JobItem, Server
from memadmin.accounts.models import User
from reviews.importing import files
from reviews.importing.apply import Applier, Overtaken
from reviews.importing.lookups import recall_states
from reviews.importing.placing import LOOPBACK, Placer
from reviews.importing.plan import Group, Reading, SkippedLine, groups_of, read, steps_of
from reviews.importing.replay import Item
from reviews.models import SourceEvent, SourceFile

KIND = "import-queue"
SKIPPED = "skipped"
TRIES = 5
# What makes the report of a watched file worth keeping.
WORTH_A_ROW = ("accepted", "superseded", "older", "parked", SKIPPED)
# A line is one row, and brings at most one other: an entry, a decision or its place among the parked.
LINES_PER_STEP = jobs.ROWS_PER_STEP // 2
KEPT_OF_A_LINE = 64 * 1024  # bytes of a skipped line that the report gives back


def start_import(
    *,
    owner: User,
    machine: str,
    chunks: Iterable[bytes],
    server: Server | None = None,
    localhost: Server | None = None,
    on_this_machine: bool = False,
    here: bool = False,
) -> Job:
    """Keeps the file and queues its import. Raises files.TooLarge.

    `server` takes every line; `localhost` is what the file's loopback addresses mean, remembered with the source;
    `on_this_machine`: the file was read here, so a loopback address is our own server. `here` as in `jobs.start`.
    """
    files.remove_strays()
    return start_kept(
        files.keep(chunks),
        owner=owner,
        machine=machine,
        server=server,
        localhost=localhost,
        on_this_machine=on_this_machine,
        here=here,
    )


def start_kept(
    name: str,
    *,
    owner: User,
    machine: str,
    server: Server | None = None,
    localhost: Server | None = None,
    on_this_machine: bool = False,
    here: bool = False,
) -> Job:
    """As `start_import`, of a file that was kept already (files.keep) and belongs to the job from now on."""
    try:
        source = _source(owner=owner, machine=machine.strip()[:200], localhost=localhost, trusts=on_this_machine)
        return jobs.start(
            kind=KIND,
            owner=owner,
            title=f"Queue file of {source.machine}" if source.machine else "Queue file",
            params={"file": name, "source": source.pk, "server": server.pk if server else None},
            here=here,
        )
    except BaseException:
        files.remove(name)
        raise


def _source(*, owner: User, machine: str, localhost: Server | None, trusts: bool) -> SourceFile:
    source, _ = SourceFile.objects.get_or_create(owner=owner, machine=machine)
    changes: dict[str, Any] = {}
    if localhost is not None and source.mapping.get(LOOPBACK) != localhost.pk:
        changes["mapping"] = {**source.mapping, LOOPBACK: localhost.pk}
    if trusts and not source.trusts_loopback:
        changes["trusts_loopback"] = True
    for name, value in changes.items():
        setattr(source, name, value)
    if changes:
        source.save(update_fields=list(changes))
    return source


def run_import(run: jobs.Run) -> dict[str, Any]:
    """The handler. Killed anywhere, it starts again: what is stored is recognised, so the result is the same."""
    job = run.job
    if job.owner is None:
        raise jobs.JobError("The person who sent the file is gone.")
    try:
        source = SourceFile.objects.select_related("owner").get(pk=run.params["source"])
        server = Server.objects.get(pk=run.params["server"]) if run.params["server"] else None
        stream = files.opened(run.params["file"])
    except (SourceFile.DoesNotExist, Server.DoesNotExist) as error:
        raise jobs.JobError("What the file was to be imported for is gone.") from error
    except FileNotFoundError as error:
        raise jobs.JobError("The uploaded file is gone. Send it again.") from error
    with stream:
        reading = read(stream)
        run.heartbeat(total=reading.lines)
        if not reading.lines:
            return _report(job, reading)
        recall_states(source, reading.items)
        groups: list[Group] = []
        if any(item.counts for item in reading.items):
            placer = Placer(source=source, user=job.owner, server=server)
            groups = groups_of(reading.items, source=source, user=job.owner, place=placer.place)
            # What is known and settled tells where the new lines stand; alone it says nothing new.
            groups = [group for group in groups if any(item.counts for item in group.items)]
        if begin := run.params.get("from", 0):
            groups = _with_something_new(groups, source=source, begin=begin)
        with closing(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)) as content:
            done = _store_skipped(run, reading, content)
            done += len(reading.items) - sum(len(group.items) for group in groups)

            def raw_of(item: Item) -> bytes:
                return content[item.offset : item.offset + item.size]

            applier = Applier(source=source, user=job.owner, job=job, raw_of=raw_of)
            apply_in_steps(run, applier, groups, done=done)
            if not groups:
                with run.step(done=max(done, job.done), cursor={}):
                    pass
    return _report(job, reading)


def _with_something_new(groups: list[Group], *, source: SourceFile, begin: int) -> list[Group]:
    """Of a file whose first `begin` bytes were imported: the documents with a later line, and those that were parked
    and have a bank now."""
    parked = SourceEvent.objects.filter(source=source, state=SourceEvent.State.PARKED)
    waiting = set(parked.values_list("identity", flat=True))
    return [
        group
        for group in groups
        if any(item.offset + item.size > begin or (group.bank and item.identity in waiting) for item in group.items)
    ]


def apply_in_steps(run: jobs.Run, applier: Applier, groups: list[Group], *, done: int) -> None:
    """Each lot in its own transaction; a lot that met somebody else's change is judged again."""
    for lot in steps_of(groups, rows=LINES_PER_STEP):
        done += sum(len(group.items) for group in lot)
        for attempt in range(1, TRIES + 1):
            try:
                with run.step(done=max(done, run.job.done), cursor={}):
                    applier.apply(lot)
                break
            except (Overtaken, IntegrityError, OperationalError):  # the last: two imports that wait for each other
                if attempt == TRIES:
                    raise


def _store_skipped(run: jobs.Run, reading: Reading, content: mmap.mmap) -> int:
    """Returns how many lines are done with then."""
    done = reading.blank
    for start in range(0, len(reading.skipped), jobs.ROWS_PER_STEP):
        lot = reading.skipped[start : start + jobs.ROWS_PER_STEP]
        with run.step(done=max(done + len(lot), run.job.done), cursor={}):
            JobItem.objects.bulk_create(_rows(run.job, lot, content), ignore_conflicts=True)
        done += len(lot)
    return done


def _rows(job: Job, lot: Sequence[SkippedLine], content: mmap.mmap) -> list[JobItem]:
    return [
        JobItem(
            job=job,
            number=line.number,
            outcome=SKIPPED,
            reason=line.reason,
            raw=content[line.offset : line.offset + min(line.size, KEPT_OF_A_LINE)],
        )
        for line in lot
    ]


def _report(job: Job, reading: Reading) -> dict[str, Any]:
    """Every line counts once: accepted, known, superseded, older, parked, skipped or blank."""
    states = SourceEvent.objects.filter(job=job).order_by().values_list("state").annotate(n=Count("pk"))
    brought = Counter(dict(states))
    kinds = {
        "accepted": brought[SourceEvent.State.APPLIED],
        "superseded": brought[SourceEvent.State.SUPERSEDED],
        "older": brought[SourceEvent.State.OLDER],
        "parked": brought[SourceEvent.State.PARKED],
    }
    return {
        "lines": reading.lines,
        **kinds,
        "known": max(len(reading.items) - sum(kinds.values()), 0),
        "skipped": len(reading.skipped),
        "blank": reading.blank,
        "pending_in_the_tool": reading.predicted,
    }


def _tidy(job: Job) -> None:
    files.remove(str(job.params["file"]))
    if job.params.get("watched") and job.state == Job.State.DONE and not any(map(job.result.get, WORTH_A_ROW)):
        _drop(job)


def _drop(job: Job) -> None:
    """A look that found nothing new: nobody waits for its report. Not when the job was started again meanwhile."""
    with transaction.atomic():
        ended = Job.objects.filter(pk=job.pk, state=Job.State.DONE, finished=job.finished)
        if ended.update(state=Job.State.CANCELLED):  # holds the row until it is gone
            job.delete()


jobs.register(KIND, run_import, after=_tidy)

"""What is read for the pages about imports. Whoever asks for a report or a parked line proves the right to it."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.db.models import Count, Min, Q, QuerySet
from django.http import Http404

from banks.access import servers_for
from banks.models import Bank, Job, JobItem, Membership, Role, Server
from memadmin.accounts.models import User
from memadmin.retention import Omitted, head_of
from reviews import watching
from reviews.models import Parked, SourceEvent, SourceFile

KINDS = ("import-queue", "import-log", "assign-parked")
PAGE_SIZE = 100
RAW_SHOWN = 300  # bytes of a line on the page; the download has more
LATEST = 50
LONGEST_FOLDER = 60  # characters of a path on the page

# What a line may have become, in the order of the report. Accepted and known lines are counted, not listed.
OUTCOMES = {
    "accepted": "took effect",
    "known": "were known from an earlier import",
    "superseded": "were overtaken by another line or decided already",
    "older": "are older than what is known",
    "parked": "could not be placed",
    "skipped": "could not be read",
    "blank": "are blank",
}
LOG_OUTCOMES = {
    "accepted": "are new rows of the write log",
    "known": "were known from an earlier import",
    "skipped": "could not be read",
    "blank": "are blank",
}
LISTED = ("skipped", "parked", "older", "superseded")


@dataclass(frozen=True)
class Line:
    number: int
    document_id: str
    reason: str
    raw: str
    omitted: Omitted  # bytes of it that are not shown


@dataclass(frozen=True)
class LinePage:
    """Lines by number; `after` is where the next page starts, 0 when there is none."""

    rows: list[Line]
    after: int


def jobs_of(user: User) -> list[Job]:
    return list(Job.objects.filter(owner=user, kind__in=KINDS).order_by("-pk")[:LATEST])


@dataclass(frozen=True)
class WatchedFile:
    """The queue file of this machine, as its last look found it."""

    name: str
    folder: str  # shortened; the home folder is ~
    source: SourceFile | None  # None: it has never been there
    changed_at: datetime | None
    job: Job | None  # the latest import that found something
    own: bool  # whether this person may open the report
    parked: int


def watched_file(user: User) -> WatchedFile | None:
    """For operators and the person in whose name it is read; None for others, or when nothing is watched."""
    path = watching.watched_path()
    if path is None:
        return None
    source = watching.source_of(path)
    if not (user.is_superuser or (source and source.owner == user)):
        return None
    if source is None:
        return WatchedFile(path.name, _short(path.parent), None, None, None, own=False, parked=0)
    seen = watching.Seen.parse(source.seen)
    return WatchedFile(
        path.name,
        _short(path.parent),
        source,
        _moment(seen.signature.mtime_ns) if seen.signature else None,
        Job.objects.filter(pk=seen.job).first(),
        own=source.owner == user,
        parked=Parked.objects.filter(event__source=source, assigned_at=None).count(),
    )


def _moment(nanoseconds: int) -> datetime | None:
    """A file may bear any time, also one that no calendar has."""
    try:
        return datetime.fromtimestamp(nanoseconds / 1e9, UTC)
    except (OverflowError, OSError, ValueError):
        return None


def _short(folder: Path) -> str:
    text = str(folder)
    with suppress(RuntimeError):  # an account without a home
        home = Path("~").expanduser()
        text = f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) else text
    return text if len(text) <= LONGEST_FOLDER else f"{text[: LONGEST_FOLDER // 3]}…{text[-LONGEST_FOLDER // 2 :]}"


def get_job(user: User, pk: int) -> Job:
    """The report of an import of one's own; everybody else's does not exist."""
    job = Job.objects.filter(pk=pk, owner=user, kind__in=KINDS).first()
    if job is None:
        raise Http404("No such import.")
    return job


def outcomes(job: Job) -> list[tuple[str, int, str]]:
    """(name, lines, what that means) for what occurred, in a fixed order."""
    meanings = LOG_OUTCOMES if job.kind == "import-log" else OUTCOMES
    return [(name, job.result[name], meaning) for name, meaning in meanings.items() if job.result.get(name)]


def kinds_brought(job: Job) -> list[tuple[str, int]]:
    """(kind of row, how many) that a log has brought, most first."""
    return sorted(job.result.get("kinds", {}).items(), key=lambda pair: -pair[1])


def lines_of(job: Job, outcome: str, after: int) -> LinePage:
    if outcome == "skipped":
        items = JobItem.objects.filter(job=job, outcome="skipped", number__gt=after).order_by("number")
        rows = [_line(item.number, "", item.reason, item.raw) for item in items[: PAGE_SIZE + 1]]
    else:
        events = SourceEvent.objects.filter(job=job, state=outcome, line__gt=after).order_by("line")
        rows = [_line(one.line, one.document_id, one.reason_text, one.raw) for one in events[: PAGE_SIZE + 1]]
    more = len(rows) > PAGE_SIZE
    rows = rows[:PAGE_SIZE]
    return LinePage(rows, rows[-1].number if more else 0)


def skipped_raw(job: Job) -> Iterator[bytes]:
    """The skipped lines as they were, one per line."""
    raws = JobItem.objects.filter(job=job, outcome="skipped").order_by("number").values_list("raw", flat=True)
    for raw in raws.iterator(chunk_size=500):
        yield bytes(raw) + b"\n"


def parked_for(user: User) -> QuerySet[Parked]:
    """Open parked lines this person may see: their own, and those which they may assign."""
    return Parked.objects.filter(Q(pk__in=_to_assign(user).values("pk")) | Q(owner=user), assigned_at=None)


def parked_to_assign(user: User) -> QuerySet[Parked]:
    """Open parked lines this person may assign: of a server they administer, or of no registered server."""
    return _to_assign(user).filter(assigned_at=None)


def parked_count(user: User) -> int:
    return parked_for(user).count()


def parked_page(user: User, after: int) -> tuple[list[Parked], int]:
    """(rows with event and source, where the next page starts or 0)."""
    rows = parked_for(user).filter(pk__gt=after).select_related("event__source", "owner", "server").order_by("pk")
    found = list(rows.defer("event__raw")[: PAGE_SIZE + 1])
    return found[:PAGE_SIZE], found[PAGE_SIZE - 1].pk if len(found) > PAGE_SIZE else 0


@dataclass(frozen=True)
class ParkedAddress:
    """What the parked lines of one source call their server, with one of them to name it by."""

    parked_pk: int
    base_url: str
    machine: str
    owner: str
    lines: int


def parked_addresses(user: User) -> list[ParkedAddress]:
    """The addresses of the parked lines that this person may assign, most lines first."""
    names = ("event__base_url", "event__source__machine", "owner__username")
    rows = parked_to_assign(user).filter(event__ev="add").values("event__source", *names).order_by()
    rows = rows.annotate(lines=Count("pk"), first=Min("pk")).order_by("-lines", "first")
    return [ParkedAddress(*row) for row in rows.values_list("first", *names, "lines")[:20]]


def get_parked(user: User, pk: int) -> Parked:
    """A line to assign. 404 for those who may not even see it; PermissionDenied is left to the act itself."""
    parked = parked_for(user).filter(pk=pk).select_related("event__source").first()
    if parked is None:
        raise Http404("No such parked line.")
    return parked


def servers_of_member(user: User) -> QuerySet[Server]:
    """Servers on which this person has any role at all, on the server or on one of its banks."""
    if user.is_superuser:
        return Server.objects.all()
    held = Membership.objects.filter(user=user)
    return Server.objects.filter(
        Q(pk__in=held.filter(server__isnull=False).values("server"))
        | Q(pk__in=Bank.objects.filter(memberships__in=held).values("server"))
    )


def _to_assign(user: User) -> QuerySet[Parked]:
    administered = servers_for(user, Role.ADMIN)
    if user.is_superuser:
        return Parked.objects.all()
    if not administered.exists():
        return Parked.objects.none()
    return Parked.objects.filter(Q(server__in=administered.values("pk")) | Q(server=None))


def _line(number: int, document_id: str, reason: str, raw: Any) -> Line:
    kept = head_of(bytes(raw), RAW_SHOWN)
    return Line(number, document_id, reason, kept.text, kept.omitted)

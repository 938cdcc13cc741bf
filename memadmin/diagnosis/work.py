"""What waits: writes, texts that do not load, jobs, parked lines, the watched file."""

from collections.abc import Iterator
from datetime import timedelta

from django.db.models import Count, Q
from django.utils import timezone

from banks.models import Job, Write
from memadmin import words
from memadmin.diagnosis.finding import Finding, counted, error, warning
from reviews import watching
from reviews.models import Parked, ReviewEntry

State, Load = Write.State, ReviewEntry.Load
# A provider's batch mode may take a day; what cannot be read back is read every few minutes.
ACCEPTED_LONG, UNKNOWN_LONG = timedelta(hours=25), timedelta(minutes=15)
WAITS_LONG = timedelta(minutes=10)  # for a worker
NOT_LOOKED = timedelta(minutes=2)


def writes() -> Iterator[Finding]:
    now = timezone.now()
    if number := Write.objects.filter(state__in=[State.ATTENTION, State.CHANGED]).count():
        yield warning("writes", f"{counted(number, 'write needs', 'writes need')} a person.", "/log/?state=attention")
    if number := Write.objects.filter(state=State.UNKNOWN, sent__lt=now - UNKNOWN_LONG).count():
        since = words.span(UNKNOWN_LONG)
        what = f"Of {counted(number, 'write', 'writes')} nobody knows for over {since} whether the server did it."
        yield warning("writes", what, "The server must answer again: it is read back by itself. /log/?state=flight")
    if number := Write.objects.filter(state=State.ACCEPTED, sent__lt=now - ACCEPTED_LONG).count():
        what = f"{counted(number, 'write is', 'writes are')} accepted for over a day, and the server is not done."
        yield warning("writes", what, "Look at the operations of its bank on the server. /log/?state=flight")
    due = Write.objects.filter(state__in=[State.QUEUED, State.RETRYING], not_before__lt=now - WAITS_LONG)
    if number := due.filter(bank__server__writes_paused=False, bank__server__closed_until=None).count():
        what = f"{counted(number, 'write waits', 'writes wait')} for over {words.span(WAITS_LONG)} to be sent."
        yield error("writes", what, "Look at the worker on queue door, and at /log/?state=flight")


def loads() -> Iterator[Finding]:
    now = timezone.now()
    pending = ReviewEntry.objects.filter(state=ReviewEntry.State.PENDING)
    failed = pending.filter(load_state__in=[Load.UNREACHABLE, Load.REFUSED, Load.MISSING]).order_by()
    rows = failed.values_list("bank__server__name", "load_state").annotate(number=Count("pk")).order_by("-number")
    for server, state, number in rows[:20]:
        what = f"{counted(number, 'memory', 'memories')} of {server} cannot be decided: {Load(state).label}."
        yield warning(
            "reviews", what, "/reviews/?state=broken says why of each; what may pass is tried again by itself."
        )
    free = Q(load_claimed_until=None) | Q(load_claimed_until__lt=now)
    if number := pending.filter(free, load_state=Load.LOADING, load_after__lt=now - WAITS_LONG).count():
        what = f"{counted(number, 'memory waits', 'memories wait')} for over {words.span(WAITS_LONG)} to be loaded."
        yield error("reviews", what, "Look at the worker on queue load, and at whether the server answers.")


def jobs() -> Iterator[Finding]:
    now = timezone.now()
    free = Q(claimed_until=None) | Q(claimed_until__lt=now - WAITS_LONG)
    waiting = Job.objects.exclude(state__in=Job.ENDED).filter(free, created__lt=now - WAITS_LONG)
    if number := waiting.count():
        what = f"{counted(number, 'job waits', 'jobs wait')} for a worker: {waiting.order_by('pk')[0].title[:100]}, …"
        yield error("reviews", what, "Look at the worker on queue load.")


def parked() -> Iterator[Finding]:
    if number := Parked.objects.filter(assigned_at=None).count():
        what = f"{counted(number, 'line', 'lines')} of queue files found no bank."
        yield warning("reviews", what, "An admin assigns them: /imports/parked/")


def queue_file() -> Iterator[Finding]:
    path = watching.watched_path()
    source = watching.source_of(path) if path else None
    if path is None or source is None:
        return
    job = Job.objects.filter(pk=watching.Seen.parse(source.seen).job, state=Job.State.FAILED).first()
    if source.trouble:
        yield warning("queue", f"{path}: {source.trouble}", "MEMADMIN_QUEUE_FILE names another file, or off.")
    elif job:
        yield warning("queue", f"{path}: its import failed. {job.error}", "It is tried again; see /imports/.")
    if source.looked_at and source.looked_at < timezone.now() - NOT_LOOKED:
        what = f"{path}: nobody has looked since {source.looked_at:%Y-%m-%d %H:%M} UTC."
        yield error("queue", what, "Start beat and the worker on queue load; `memadmin up` runs both.")

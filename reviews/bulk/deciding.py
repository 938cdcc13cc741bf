"""The job that decides on what was picked: each memory by itself, each step stored with how far it came.

The picks are kept as lines of the job, so that a job of any length is read in lots. What is refused is kept with its
reason; the memory stays as it was.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from banks import access, jobs
from banks.models import Job, JobItem, Role, Write
from memadmin.accounts.models import User
from reviews.access import DECIDED_ON
from reviews.bulk.scope import APPROVE, DELETE, Pick, left_out, opened_whole, parsed
from reviews.errors import NotDecided, TooLate
from reviews.models import ReviewEntry
from reviews.services import decide

KIND = "decide"
ROWS_PER_STEP = 100  # nobody waits for the only writer of SQLite longer than that takes
PICKS_PER_LINE = 1_000
PICKS, REFUSED = "picks", "refused"
FIRST_REFUSAL = 1_000_000  # numbers of lines: those before hold the picks
# Nothing of a deletion leaves before all of it is recorded, at this many a second, and the usual time has passed.
RECORDED_PER_SECOND = 50

NO_ROLE = "You may not decide on its bank any more."
GONE = "It is not here any more."
LEFT_OUT = {
    "flagged": "It was flagged since, and you have not opened it.",
    "clipped": "Of its long text you have not opened everything.",
    "unloaded": "Its text is not loaded any more.",
}


def start(*, user: User, verdict: str, picks: Sequence[Pick], here: bool = False) -> Job:
    """Keeps what is decided on and queues the work. `here`: the caller runs it, at once. Raises TooLate for nothing."""
    if not picks:
        raise TooLate("Nothing is selected, so nothing was decided.")
    total, noun = len(picks), "memory" if len(picks) == 1 else "memories"
    params: dict[str, Any] = {"group": str(uuid4()), "verdict": verdict, "total": total}
    if verdict == DELETE:
        wait = timedelta(seconds=settings.UNDO_SECONDS + total // RECORDED_PER_SECOND)
        params["send_at"] = (timezone.now() + wait).isoformat()
    with transaction.atomic():
        title = f"{verdict.capitalize()} {total:,} {noun}"
        job = jobs.start(kind=KIND, owner=user, title=title, params=params, here=here)
        lots = [picks[at : at + PICKS_PER_LINE] for at in range(0, total, PICKS_PER_LINE)]
        lines = [" ".join(map(str, lot)).encode() for lot in lots]
        JobItem.objects.bulk_create(
            JobItem(job=job, number=number, outcome=PICKS, raw=raw) for number, raw in enumerate(lines, start=1)
        )
    return job


def run(run: jobs.Run) -> dict[str, Any]:
    """The handler. What is decided already lies before the cursor."""
    verdict, send_at = run.params["verdict"], parse_datetime(run.params.get("send_at", ""))
    while lot := _next_lot(run):
        owner = jobs.person_of(run.job)
        banks = access.bank_ids_for(owner, Role.REVIEWER)
        at = run.job.done + len(lot)
        with run.step(done=at, cursor={"done": at}, total=run.params["total"]):
            entries = _entries(lot)
            opened = opened_whole(owner, entries.values())
            for number, pick in enumerate(lot, start=FIRST_REFUSAL + run.job.done):
                entry = entries.get(pick.pk)
                allowed = entry is not None and (banks is None or entry.bank_id in banks)
                why = _decide(run, owner, verdict, pick, entry, opened, send_at) if allowed else _why_not(entry)
                if why:
                    JobItem.objects.create(
                        job=run.job, number=number, outcome=REFUSED, reason=why[:300], raw=str(pick.pk).encode()
                    )
    return {"refused": run.job.items.filter(outcome=REFUSED).count()}


def _next_lot(run: jobs.Run) -> list[Pick]:
    done = run.cursor.get("done", 0)
    line = run.job.items.filter(outcome=PICKS, number=done // PICKS_PER_LINE + 1).first()
    if line is None:
        return []
    begin = done % PICKS_PER_LINE
    return parsed(bytes(line.raw).decode().split(" "))[begin : begin + ROWS_PER_STEP]


def _entries(lot: Sequence[Pick]) -> dict[int, ReviewEntry]:
    rows = ReviewEntry.objects.select_related("bank").only(*DECIDED_ON, "marks", "danger")
    return {entry.pk: entry for entry in rows.filter(pk__in=[pick.pk for pick in lot])}


def _why_not(entry: ReviewEntry | None) -> str:
    return GONE if entry is None else NO_ROLE


def _decide(
    run: jobs.Run,
    owner: User,
    verdict: str,
    pick: Pick,
    entry: ReviewEntry | None,
    opened: set[int],
    send_at: datetime | None,
) -> str:
    """Why it is not decided, "" when it is."""
    assert entry is not None
    text = entry.text_id or ""
    why = left_out(
        verdict,
        loaded=entry.loaded and bool(text),
        flagged=entry.danger or bool(entry.marks),
        clipped=False,  # whoever decides looks at the parts again
        opened=entry.pk in opened,
    )
    if why and entry.waits and entry.version == pick.version:
        return LEFT_OUT[why]
    about: dict[str, Any] = {
        "user": owner,
        "entry_id": entry.pk,
        "version": pick.version,
        "text_hash": text if text[:8] == pick.text else pick.text,
        "via": Write.Via.WEB,
        "entry": entry,
        "group": UUID(run.params["group"]),
    }
    try:
        if verdict == APPROVE:
            decide.approve(**about)
        else:
            decide.delete(**about, send_at=send_at)
    except NotDecided as refused:
        return str(refused)
    return ""


def stop(*, user: User, job: Job) -> None:
    """Nothing more is decided; what is decided stays, until the group is taken back."""
    # A worker that is at it loses its claim, and with it the step it is in.
    Job.objects.filter(pk=job.pk).exclude(state__in=Job.ENDED).update(
        state=Job.State.CANCELLED,
        finished=timezone.now(),
        claimed_until=None,
        result={"stopped_by": user.display_name},
    )


jobs.register(KIND, run)

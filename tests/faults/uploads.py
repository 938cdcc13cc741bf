"""Imports under fire: a queue file is uploaded, its workers are killed, and each of its lines must be there once."""

import json
import random
import re
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import httpx
from django.db import connection
from django.utils import timezone

from banks.models import Bank, Job, JobItem
from reviews.models import Decision, Parked, ReviewEntry, SourceEvent
from tests.faults import world
from tests.faults.people import PATIENCE, PAUSE
from tests.faults.stack import Stack

PATH = "/imports/new/"
CLOSED, PARKED, TORN, TWICE = 1_800, 1_800, 20, 100  # documents or lines of each sort
MOST_KILLS = 4
LATEST_KILL = 1.0  # seconds after a worker has begun
VICTIMS = ("load", "load", "load", "broker")
ENDED_WITHIN = 180.0  # seconds
_TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')


@dataclass
class Upload:
    """One file, and what has to become of it."""

    machine: str
    lines: list[str]
    closed: set[str]  # documents that were added and closed
    parked: int
    torn: int
    kills: list[str] = field(default_factory=list)

    @property
    def readable(self) -> int:
        return len(self.lines) - self.torn


def make_file(bank: Bank, seed: int) -> Upload:
    """Memories that were added and closed, lines of a bank that nobody knows, repeated and torn lines, shuffled."""
    dice = random.Random(seed)
    names = [f"import {seed}/{number}.md" for number in range(CLOSED)]
    strangers = [line.replace(world.BANK, "nobody-knows") for line in world.queue_lines(bank, names[:PARKED])]
    added = world.queue_lines(bank, names)
    torn = ['{"ev": "add", "docId": '] * TORN
    first = added + strangers + torn + dice.sample(added, TWICE)
    dice.shuffle(first)
    done = [json.dumps({"ev": "done", "docId": name, "bank": bank.bank_id, "action": "approved"}) for name in names]
    return Upload(f"machine {seed}", first + done, set(names), len(strangers), TORN)


def kill_while_importing(stack: Stack, upload: Upload, seed: int, *, session: str, localhost: int) -> list[str]:
    """Uploads, kills, waits, and returns what is wrong."""
    dice = random.Random(seed)
    import_through(stack.address, session, upload.lines, machine=upload.machine, localhost=localhost)
    deadline = time.monotonic() + ENDED_WITHIN
    for _ in range(dice.randint(2, MOST_KILLS)):
        if not _until(lambda: _worked_on() or _ended(), deadline) or _ended():
            break
        time.sleep(dice.uniform(0.0, LATEST_KILL))
        victim = dice.choice(VICTIMS)
        if stack.kill(victim):
            upload.kills.append(victim)
        _until(lambda: not _worked_on() or _ended(), deadline)
    if not _until(_ended, deadline):
        return ["the import has not ended"]
    return audit(upload)


def _ended() -> bool:
    return not Job.objects.exclude(state__in=Job.ENDED).exists()


def _worked_on() -> bool:
    return Job.objects.filter(state=Job.State.RUNNING, claimed_until__gt=timezone.now()).exists()


def _until(what: Callable[[], bool], deadline: float) -> bool:
    while not what():
        connection.close()
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def audit(upload: Upload) -> list[str]:
    """Every line once, every memory once, every claim once, and a report that adds up."""
    events = SourceEvent.objects.filter(source__machine=upload.machine)
    sources = set(events.values_list("source", flat=True))
    jobs = [job for job in Job.objects.order_by("pk") if job.params.get("source") in sources]
    entries = ReviewEntry.objects.filter(document_id__in=upload.closed)
    claims = Counter(Decision.objects.filter(entry__in=entries).values_list("entry__document_id", flat=True))
    counted = {
        "lines": (events.count(), upload.readable),
        "different lines": (events.values("line").distinct().count(), upload.readable),
        "parked lines": (Parked.objects.filter(event__in=events).count(), upload.parked),
        "memories": (entries.count(), len(upload.closed)),
        "closed memories": (entries.filter(state=ReviewEntry.State.APPROVED).count(), len(upload.closed)),
        "claimed decisions": (sum(claims.values()), len(upload.closed)),
        "memories with a claim": (len(claims), len(upload.closed)),
    }
    wrong = [f"{what}: {found}, not {wanted}" for what, (found, wanted) in counted.items() if found != wanted]
    brought = 0
    for job in jobs:
        if job.state != Job.State.DONE:
            wrong.append(f"the import ended as {job.state}: {job.error}")
            continue
        brought += sum(job.result[name] for name in ("accepted", "superseded", "older", "parked"))
        told = (job.result["lines"], job.result["skipped"], JobItem.objects.filter(job=job).count())
        if told != (len(upload.lines), upload.torn, upload.torn):
            wrong.append(f"the report says {told}")
    if brought != upload.readable:
        wrong.append(f"the reports tell of {brought} lines, not of {upload.readable}")
    return wrong


def import_through(address: str, session: str, lines: list[str], *, machine: str, localhost: int) -> int:
    """Sends the file as a browser does; its import's number. A broken answer is followed by another upload.

    `localhost`: the server that the file's loopback addresses mean.
    """
    content = "".join(f"{line}\n" for line in lines).encode()
    deadline = time.monotonic() + PATIENCE
    with httpx.Client(base_url=address, cookies={"sessionid": session}, timeout=30) as browser:
        while time.monotonic() < deadline:
            try:
                token = _TOKEN.search(browser.get(PATH).text)
                answer = browser.post(
                    PATH,
                    data={
                        "csrfmiddlewaretoken": token[1] if token else "",
                        "machine": machine,
                        "localhost": str(localhost),
                    },
                    files={"file": ("review-queue.jsonl", content)},
                    headers={"Referer": f"{address}{PATH}"},
                )
                if answer.status_code == 303:
                    return int(answer.headers["location"].strip("/").rpartition("/")[2])
            except httpx.TransportError:
                pass
            time.sleep(PAUSE)
    raise TimeoutError("the file was not taken")

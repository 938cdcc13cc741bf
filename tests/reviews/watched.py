"""A developer's machine: the queue file as the agent's tool writes it, and looks at it."""

import json
from pathlib import Path

from banks import jobs
from banks.models import Job
from reviews import watching
from reviews.importing.fold import predicted_pending
from tests.reviews import queue_files
from tests.reviews.queue_files import events_of

LOCAL = "http://localhost:8888"


class Tool:
    """Appends one line per event in one call, and rewrites the file through a temporary one."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def write(self, text: str) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8", newline="") as file:
            file.write(text)

    def add(self, document_id: str, **values: object) -> None:
        self.write(queue_files.add(document_id, **{"baseUrl": LOCAL, **values}) + "\n")

    def done(self, document_id: str, **values: object) -> None:
        self.write(queue_files.done(document_id, **values) + "\n")

    def compact(self) -> None:
        """One add per memory that still waits; every done and every bad line is gone."""
        pending = predicted_pending(events_of(self.path.read_bytes()))
        names = {"document_id": "docId", "base_url": "baseUrl"}
        lines = [
            json.dumps(
                {names.get(name, name): value for name, value in one._asdict().items() if name not in ("action", "by")}
            )
            for one in pending
        ]
        fresh = self.path.with_name(".review-queue.tmp")
        fresh.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        fresh.replace(self.path)


def run_jobs() -> None:
    """As a worker would, until nothing is queued."""
    for job_id in list(Job.objects.exclude(state__in=Job.ENDED).values_list("pk", flat=True)):
        jobs.run(job_id)


def look() -> str:
    """One look and what comes of it."""
    word = watching.look()
    run_jobs()
    return word

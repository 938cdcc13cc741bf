"""What the commands that import a file have in common."""

import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import CommandError

from banks import jobs
from banks.management.base import PersonCommand
from banks.models import Job, JobItem
from reviews.forms import too_large
from reviews.importing import files
from reviews.importing.job import SKIPPED

CHUNK = 1024 * 1024
NAMED = 20  # skipped lines that the table names one by one


class ImportCommand(PersonCommand):
    """Keeps a file, runs its job here, and reports."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", help="the file, or - for standard input")

    def kept(self, name: str, start: Callable[[Iterable[bytes]], Job]) -> Job:
        """`start` is given the bytes of the file."""
        try:
            with self.opened(name) as stream:
                return start(_chunks(stream))
        except files.TooLarge as error:
            raise CommandError(too_large()) from error
        except OSError as error:
            raise CommandError(f"{name} cannot be read: {error.strerror or error}") from error

    def opened(self, name: str) -> BinaryIO:
        return open(sys.stdin.fileno(), "rb", closefd=False) if name == "-" else Path(name).expanduser().open("rb")

    def run_here(self, job: Job) -> None:
        try:
            ended = jobs.run(job.pk, slice_seconds=None, on_progress=self.progress if self.stderr.isatty() else None)
        except KeyboardInterrupt:
            raise CommandError(
                "Stopped. What was stored stays; a worker goes on with the rest.", returncode=130
            ) from None
        job.refresh_from_db()
        if ended != Job.State.DONE:
            raise CommandError(job.error or "The database did not answer. A worker goes on with the import.")

    def progress(self, job: Job) -> None:
        end = "\n" if job.done == job.total else ""
        self.stderr.write(f"\r{job.done:,} of {job.total:,} lines", ending=end)

    def print_report(self, job: Job, outcomes: dict[str, str], options: dict[str, Any]) -> None:
        """`outcomes`: {key of the result: what it means}."""
        skipped = JobItem.objects.filter(job=job, outcome=SKIPPED).order_by("number")
        if options["json"]:
            lines = [{"line": number, "why": why} for number, why in skipped.values_list("number", "reason")]
            self.report({"import": job.pk, **job.result, "skipped_lines": lines}, options)
            return
        result = job.result
        self.table([("lines", f"{result['lines']:,}", "in the file")])
        self.table([(name, f"{result[name]:,}", meaning) for name, meaning in outcomes.items()])
        for number, why in skipped.values_list("number", "reason")[:NAMED]:
            self.stdout.write(f"line {number:,}: {self.plain(why)}")
        if result["skipped"] > NAMED:
            self.stdout.write(f"and {result['skipped'] - NAMED:,} more; the page of this import lists them all")


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    while chunk := stream.read(CHUNK):
        yield chunk

import socket
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from django.core.management.base import CommandError

from banks import jobs
from banks.models import Job, JobItem, Server
from memadmin.accounts.models import User
from memadmin.management.base import ReportCommand
from reviews.forms import too_large
from reviews.importing import files
from reviews.importing.job import SKIPPED, start_import
from reviews.selectors.imports import OUTCOMES

CHUNK = 1024 * 1024
NAMED = 20  # skipped lines that the table names one by one


class Command(ReportCommand):
    help = (
        "Imports a review-queue.jsonl. Read here, a localhost address in it means this machine: a server registered "
        "under such an address. Importing the same file again changes nothing that was decided."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", help="the file, or - for standard input")
        parser.add_argument("--server", metavar="NAME", help="every line means this registered server")
        parser.add_argument("--machine", default="", help="whose file it is (default: this machine's name)")
        parser.add_argument("--as", dest="person", metavar="USERNAME", help="default: the only operator")
        parser.add_argument("--strict", action="store_true", help="exit 1 when a line was skipped or parked")

    def handle(self, **options: Any) -> None:
        owner, server = self.owner(options["person"]), self.server(options["server"])
        job = self.start(options, owner, server)
        try:
            ended = jobs.run(job.pk, slice_seconds=None, on_progress=self.progress if self.stderr.isatty() else None)
        except KeyboardInterrupt:
            raise CommandError(
                "Stopped. What was stored stays; a worker goes on with the rest.", returncode=130
            ) from None
        job.refresh_from_db()
        if ended != Job.State.DONE:
            raise CommandError(job.error or "The database did not answer. A worker goes on with the import.")
        self.print_report(job, options)
        if options["strict"] and (job.result["skipped"] or job.result["parked"]):
            sys.exit(1)

    def start(self, options: dict[str, Any], owner: User, server: Server | None) -> Job:
        machine = options["machine"] or socket.gethostname()
        try:
            with self.opened(options["file"]) as stream:
                return start_import(
                    owner=owner, machine=machine, chunks=_chunks(stream), server=server, on_this_machine=True, here=True
                )
        except files.TooLarge as error:
            raise CommandError(too_large()) from error
        except OSError as error:
            raise CommandError(f"{options['file']} cannot be read: {error.strerror or error}") from error

    def opened(self, name: str) -> BinaryIO:
        return open(sys.stdin.fileno(), "rb", closefd=False) if name == "-" else Path(name).expanduser().open("rb")

    def owner(self, username: str | None) -> User:
        people = User.objects.filter(is_active=True)
        if username:
            if found := people.filter(username=username).first():
                return found
            raise CommandError(f"Nobody here is called {username}.")
        operators = list(people.filter(is_superuser=True)[:2])
        if len(operators) != 1:
            raise CommandError("Say for whom: --as USERNAME. There is not exactly one operator.")
        return operators[0]

    def server(self, name: str | None) -> Server | None:
        if not name:
            return None
        if found := Server.objects.filter(name=name).first():
            return found
        names = ", ".join(Server.objects.values_list("name", flat=True)) or "none"
        raise CommandError(f"No server is registered as {name}. Registered: {names}.")

    def progress(self, job: Job) -> None:
        end = "\n" if job.done == job.total else ""
        self.stderr.write(f"\r{job.done:,} of {job.total:,} lines", ending=end)

    def print_report(self, job: Job, options: dict[str, Any]) -> None:
        skipped = JobItem.objects.filter(job=job, outcome=SKIPPED).order_by("number")
        if options["json"]:
            lines = [{"line": number, "why": why} for number, why in skipped.values_list("number", "reason")]
            self.report({"import": job.pk, **job.result, "skipped_lines": lines}, options)
            return
        result = job.result
        self.table([("lines", f"{result['lines']:,}", "in the file")])
        self.table([(name, f"{result[name]:,}", meaning) for name, meaning in OUTCOMES.items()])
        for number, why in skipped.values_list("number", "reason")[:NAMED]:
            self.stdout.write(f"line {number:,}: {self.plain(why)}")
        if result["skipped"] > NAMED:
            self.stdout.write(f"and {result['skipped'] - NAMED:,} more; the page of this import lists them all")


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    while chunk := stream.read(CHUNK):
        yield chunk

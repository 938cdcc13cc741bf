import socket
import sys
from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from banks.models import Job
from reviews.importing.job import start_import
from reviews.management.importing import ImportCommand
from reviews.selectors.imports import OUTCOMES


class Command(ImportCommand):
    help = (
        "Imports a review-queue.jsonl. Read here, a localhost address in it means this machine: a server registered "
        "under such an address. Importing the same file again changes nothing that was decided."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--server", metavar="NAME", help="every line means this registered server")
        parser.add_argument("--machine", default="", help="whose file it is (default: this machine's name)")
        parser.add_argument("--strict", action="store_true", help="exit 1 when a line was skipped or parked")

    def handle(self, **options: Any) -> None:
        owner, server = self.owner(options["person"]), self.server(options["server"])
        machine = options["machine"] or socket.gethostname()

        def start(chunks: Iterable[bytes]) -> Job:
            return start_import(
                owner=owner, machine=machine, chunks=chunks, server=server, on_this_machine=True, here=True
            )

        job = self.kept(options["file"], start)
        self.run_here(job)
        self.print_report(job, OUTCOMES, options)
        if options["strict"] and (job.result["skipped"] or job.result["parked"]):
            sys.exit(1)

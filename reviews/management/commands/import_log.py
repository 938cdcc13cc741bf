import sys
from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.management.base import CommandError
from django.http import Http404

from banks.models import Job
from reviews.importing.log_job import start_log_import
from reviews.management.importing import ImportCommand
from reviews.selectors.imports import LOG_OUTCOMES


class Command(ImportCommand):
    help = (
        "Imports the log.jsonl of an agent's tool into the write log of a bank, which the file does not name. Nothing "
        "is sent to the bank. Importing the same file again, or a longer copy of it, stores no line twice."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--bank", required=True, metavar="ID", help="the bank, by the id agents use")
        parser.add_argument("--server", metavar="NAME", help="where several servers have a bank of that id")
        parser.add_argument("--strict", action="store_true", help="exit 1 when a line was skipped")

    def handle(self, **options: Any) -> None:
        owner = self.owner(options["person"])
        bank = self.bank(owner, options["bank"], self.server(options["server"]), "Nothing was imported.")

        def start(chunks: Iterable[bytes]) -> Job:
            return start_log_import(user=owner, bank_id=bank.pk, chunks=chunks, here=True)

        try:
            job = self.kept(options["file"], start)
        except (Http404, PermissionDenied) as refused:
            raise CommandError(f"{owner} may not review the bank {options['bank']}. Nothing was imported.") from refused
        self.run_here(job)
        self.print_report(job, LOG_OUTCOMES, options)
        if options["strict"] and job.result["skipped"]:
            sys.exit(1)

import json
import os
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import CommandError
from django.db import DatabaseError

from memadmin.accounts import links, people
from memadmin.management.base import ReportCommand
from memadmin.up.prepare import Mixed, Prepared, introduce, prepare


class Command(ReportCommand):
    registers_first_server = False
    help = "Migrates, collects the static files, registers the first server and the first operator. Idempotent."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--report", type=Path, help="for `memadmin up`: write the result to this new, private file")

    def handle(self, **options: Any) -> None:
        try:
            prepared = prepare()
        except (Mixed, ImproperlyConfigured, DatabaseError) as error:
            raise CommandError(str(error)) from error
        values = asdict(prepared)
        if options["report"]:
            self.write(values, options["report"], prepared)
        introduce()
        if not options["report"]:
            self.report(values, options)

    def write(self, values: dict[str, Any], report: Path, prepared: Prepared) -> None:
        """Complete or not at all: `up` goes on when it sees the file."""
        if prepared.first_run and not prepared.has_password:
            values["link_path"] = links.issue(user=people.ensure_first_admin().user).path
        unfinished = report.with_suffix(".unfinished")
        unfinished.unlink(missing_ok=True)
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            json.dump(values, stream)
        unfinished.replace(report)

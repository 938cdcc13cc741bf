"""Our commands: a table for people, `--json` for programs, exit code 0 when the work was done."""

import json
from argparse import ArgumentParser
from collections.abc import Iterable
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError
from django.core.serializers.json import DjangoJSONEncoder
from django.db import DatabaseError

from memadmin import bootstrap
from memadmin.health import database_report


class ReportCommand(BaseCommand):
    requires_system_checks: list[str] = []
    # Whichever command runs first registers the server that the environment names.
    registers_first_server = True

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            if self.registers_first_server:
                bootstrap.ensure_first_server()
            return super().execute(*args, **options)
        except ImproperlyConfigured as error:
            raise CommandError(str(error)) from error
        except DatabaseError as error:
            if database_report()["status"] == "ok":
                raise
            raise CommandError(f"The database is not ready ({error}). `memadmin prepare` makes it so.") from error

    def report(self, values: dict[str, Any], options: dict[str, Any]) -> None:
        """One object: its keys and values as two columns."""
        if options["json"]:
            self.stdout.write(json.dumps(values, cls=DjangoJSONEncoder, ensure_ascii=False))
            return
        self.table((name.replace("_", " "), value) for name, value in values.items())

    def table(self, rows: Iterable[tuple[Any, ...]]) -> None:
        cells = [[self.plain(cell) for cell in row] for row in rows]
        widths = [max(len(cell) for cell in column) for column in zip(*cells, strict=True)]
        for row in cells:
            self.stdout.write("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())

    def plain(self, value: Any) -> str:
        if value is None:
            return "unknown"
        if isinstance(value, bool):
            return "yes" if value else "no"
        # Names and ids are other people's text: nothing in them may steer a terminal.
        return "".join(character if character.isprintable() else "�" for character in str(value))

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.db import connection

from memadmin import env
from memadmin.backup import CannotBackUp, back_up
from memadmin.checks import KEY_FILES
from memadmin.management.base import ReportCommand


class Command(ReportCommand):
    registers_first_server = False
    help = (
        "Copies the database to a new, private file while memadmin runs: SQLite as one file, PostgreSQL with pg_dump. "
        "The keys are not in it: keep them apart."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("file", help="where to; it must not be there yet")
        parser.add_argument("--force", action="store_true", help="overwrite the file")

    def handle(self, **options: Any) -> None:
        if options["file"] == "-":
            raise CommandError("A backup is a file: name one. It appears when it is complete.")
        target = Path(options["file"]).expanduser().absolute()
        try:
            size = back_up(target, force=options["force"])
        except CannotBackUp as error:
            raise CommandError(str(error)) from error
        told = {
            "backup": str(target),
            "bytes": size if options["json"] else f"{size:,}",
            "database": connection.display_name,
            "not_in_it": _left_out(),
            "restore": _how_to_restore(target),
        }
        self.report(told, options)


def _left_out() -> str:
    """What else a new installation needs."""
    if env.text("MEMADMIN_ENCRYPTION_KEYS"):
        keys = "the keys of MEMADMIN_ENCRYPTION_KEYS"
    else:
        keys = f"the keys in {Path(settings.DATA_DIR) / KEY_FILES[1]}"
    return f"{keys}, without which no stored API key can be read; queue files that are not imported yet"


def _how_to_restore(target: Path) -> str:
    database = connection.settings_dict["NAME"]
    if connection.vendor != "sqlite":
        return f"stop memadmin; pg_restore --clean --if-exists --no-owner --dbname={database} {target}; start"
    return f"stop memadmin; remove {database}-wal and {database}-shm; copy the backup to {database}; start"

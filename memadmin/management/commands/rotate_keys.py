import sys
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from memadmin import env, rotation
from memadmin.checks import KEY_FILES
from memadmin.management.base import ReportCommand

NAME = "MEMADMIN_ENCRYPTION_KEYS"
NEXT = "Restart memadmin, so that every process knows it; then: memadmin rotate-keys"


class Command(ReportCommand):
    registers_first_server = False
    help = (
        "Encrypts every stored secret under the first of MEMADMIN_ENCRYPTION_KEYS. Add a new key in front, restart "
        "memadmin, run this, then remove the old key. Exit code 1 when no key opens a secret: that one is left alone."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--dry-run", action="store_true", help="only say what would be done")
        parser.add_argument("--new-key", action="store_true", help="only make a new key, in front of the kept ones")

    def handle(self, **options: Any) -> None:
        file = Path(settings.DATA_DIR) / KEY_FILES[1]
        if options["new_key"]:
            return self.make(file, options)
        dry_run = options["dry_run"]
        several = len(settings.ENCRYPTION_KEYS) > 1 and not env.text(NAME)
        if several and not dry_run and rotation.runs_with_older_keys(file):
            raise CommandError(f"memadmin runs since before {file} was changed, and could not open the result. {NEXT}")
        outcomes = rotation.rotate(dry_run=dry_run)
        self.print_report(outcomes, [] if dry_run else rotation.unused_keys(), options)
        if any(each.outcome in (rotation.LOST, rotation.RACED) for each in outcomes):
            sys.exit(1)
        return None

    def make(self, file: Path, options: dict[str, Any]) -> None:
        if env.text(NAME):
            raise CommandError(f"The keys come from {NAME}: put the new one in front there, and restart memadmin.")
        number = len(settings.ENCRYPTION_KEYS) + 1 if options["dry_run"] else env.add_kept_key(file)
        self.report({"keys": number, "file": str(file), "next": NEXT}, options)

    def print_report(self, outcomes: list[rotation.Outcome], unused: list[int], options: dict[str, Any]) -> None:
        if options["json"]:
            self.report({"secrets": [asdict(each) for each in outcomes], "unused_keys": unused}, options)
            return
        self.table((each.server, each.secret, each.outcome) for each in outcomes)
        if not outcomes:
            self.stdout.write("No secret is stored.")
        if any(each.outcome == rotation.LOST for each in outcomes):
            self.stdout.write("Put back the key that is missing, or store that secret again.")
        if unused:
            named = ", ".join(map(str, unused))
            self.stdout.write(f"Nothing is under key {named} any more: remove it, where no backup needs it.")

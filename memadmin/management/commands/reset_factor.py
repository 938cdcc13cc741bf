from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from banks.services import team
from memadmin.management.base import ReportCommand
from memadmin.management.people import person_called


class Command(ReportCommand):
    registers_first_server = False
    help = "Takes away the second factor of somebody who lost phone and codes, and signs them out everywhere."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("username", help="whose")

    def handle(self, **options: Any) -> None:
        person = person_called(options["username"])
        if not team.reset_factor(actor=None, person=person, reason="in the terminal"):
            raise CommandError(f"{person.username} has no second factor.")
        self.report({"reset": person.username}, options)

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from banks.services import team
from memadmin.accounts import limits
from memadmin.management.base import ReportCommand
from memadmin.management.people import person_called


class Command(ReportCommand):
    registers_first_server = False
    help = "Wrong passwords and codes count from nothing again: of one person, of a network address, or of all."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("username", nargs="?", default="", help="whom")
        parser.add_argument("--address", default="", help="a network address that is locked")
        parser.add_argument("--all", action="store_true", help="every name and address")

    def handle(self, **options: Any) -> None:
        said = [bool(options[each]) for each in ("username", "address", "all")]
        if sum(said) != 1:
            raise CommandError("Say whom: a user name, --address ADDRESS, or --all.")
        if options["username"]:
            person = person_called(options["username"])
            self.report({"unlocked": person.username, "was_counted": team.unlock(actor=None, person=person)}, options)
        elif options["address"]:
            found = limits.unlock_address(options["address"])
            self.report({"unlocked": options["address"], "was_counted": bool(found)}, options)
        else:
            self.report({"unlocked": "all", "was_counted": bool(limits.unlock_all())}, options)

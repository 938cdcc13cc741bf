import os
from argparse import ArgumentParser
from typing import Any

from django.conf import settings

from memadmin.accounts import links, people
from memadmin.accounts.models import User
from memadmin.management.base import ReportCommand
from memadmin.management.people import person_called
from memadmin.up.signin import hand_over


class Command(ReportCommand):
    help = "Makes a sign-in link that works once, for 15 minutes. Off the terminal it goes to a private file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("username", nargs="?", default="", help="whom it signs in (default: the first operator)")

    def handle(self, **options: Any) -> None:
        link = links.issue(user=self.person(options["username"]))
        address = os.environ.get("MEMADMIN_ADDRESS") or f"http://127.0.0.1:{settings.PORT}"
        shown = hand_over(link.url(address), settings.DATA_DIR, terminal=self.terminal())
        self.report({"signs_in": link.user.username, **shown, "until": link.expires}, options)

    def terminal(self) -> bool:
        return bool(getattr(self.stdout, "isatty", lambda: False)())

    def person(self, username: str) -> User:
        if not username:
            return people.ensure_first_admin().user
        return person_called(username)

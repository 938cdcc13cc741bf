"""What commands that act in a person's name have in common."""

from argparse import ArgumentParser

from django.core.management.base import CommandError

from banks import naming
from banks.access import banks_for
from banks.models import Bank, Server
from memadmin.accounts.models import User
from memadmin.management.base import ReportCommand


class PersonCommand(ReportCommand):
    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--as", dest="person", metavar="USERNAME", help="default: the only operator")

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

    def bank(self, owner: User, bank_id: str, server: Server | None, nothing: str) -> Bank:
        """`nothing`: what did not happen, when there is no such bank."""
        found = naming.by_id(banks_for(owner).select_related("server"), bank_id)
        if server is not None:
            found = found.filter(server=server)
        banks = list(found[:20])
        if not banks:
            raise CommandError(f"{owner} sees no bank {bank_id}. {nothing}")
        if len(banks) > 1:
            names = ", ".join(sorted(bank.server.name for bank in banks))
            raise CommandError(f"Several servers have a bank {bank_id}: {names}. Say which: --server NAME.")
        return banks[0]

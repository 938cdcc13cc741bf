from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from banks.models import Bank
from memadmin.management.base import ReportCommand
from reviews.services import screening_due


class Command(ReportCommand):
    help = "Has waiting memories screened anew; workers do it, some hundred a minute."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--bank", default="", metavar="ID", help="only in banks of this id")

    def handle(self, **options: Any) -> None:
        banks = None
        if options["bank"]:
            banks = list(Bank.objects.filter(bank_id=options["bank"]))
            if not banks:
                raise CommandError(f"There is no bank {options['bank']}. Nothing was changed.")
        self.report({"to_be_screened": screening_due.again(banks)}, options)

from argparse import ArgumentParser
from datetime import UTC, datetime
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone
from django.utils.dateparse import parse_date, parse_datetime

from memadmin.management.base import ReportCommand
from reviews.services import expiry

ALL = 1_000_000


class Command(ReportCommand):
    help = "Approves by time what is past its time; the beat does the same each minute."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--at", default="", metavar="TIME", help="as if it were this ISO time (naive means UTC)")
        parser.add_argument("--dry-run", action="store_true", help="only say how many")

    def handle(self, **options: Any) -> None:
        now = _moment(options["at"]) if options["at"] else timezone.now()
        dry_run = options["dry_run"]
        count = expiry.run(now=now, dry_run=True, limit=ALL).count if dry_run else self.approve(now)
        self.report({"would_approve" if dry_run else "approved": count, "at": now.isoformat()}, options)

    def approve(self, now: datetime) -> int:
        total = 0
        while count := expiry.run(now=now).count:
            total += count
        return total


def _moment(text: str) -> datetime:
    try:
        moment = parse_datetime(text)
        if moment is None and (day := parse_date(text)):
            moment = datetime(day.year, day.month, day.day, tzinfo=UTC)
    except ValueError as error:
        raise CommandError(f"--at: {error}.") from error
    if moment is None:
        raise CommandError(f"--at wants an ISO time such as 2026-03-16T10:44:00Z, not {text!r}.")
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from banks import jobs
from banks.access import banks_for
from banks.management.base import PersonCommand
from banks.models import Bank, Job, Role, Write
from banks.retain import scope
from banks.seeds import job as seeding
from banks.seeds import library
from banks.seeds.job import Asked, Row

NOTHING = "Nothing was made."
WORDS = {
    "create": "make",
    "exists": "is there",
    "other-tags": "is there with other tags",
    "unscoped": "not for this scope",
    "under-way": "being made already",
    "left": "left alone",
}


class Command(PersonCommand):
    help = (
        "Makes the mental models of our seeds in banks, where they are missing. A model that is there is not updated, "
        "not refreshed and not deleted. The rows are stored at once, and the workers make the models."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("banks", nargs="+", metavar="BANK", help="the id of a bank; several may be given")
        parser.add_argument("--server", metavar="NAME", help="where several servers have a bank of that id")
        parser.add_argument("--scope", choices=scope.MODES, default=scope.TAGGED, help="how projects are told apart")
        parser.add_argument("--project", default="", metavar="PATH", help="whose models, in a tagged scope")
        parser.add_argument("--seed", action="append", default=[], metavar="ID", help="only this one; may be repeated")
        parser.add_argument("--dry-run", action="store_true", help="say what would be made, and what differs")

    def handle(self, **options: Any) -> None:
        owner = self.owner(options["person"])
        server = self.server(options["server"])
        banks = [self.bank(owner, each, server, NOTHING) for each in dict.fromkeys(options["banks"])]
        administered = set(banks_for(owner, Role.ADMIN).values_list("pk", flat=True))
        for bank in banks:
            if bank.pk not in administered:
                raise CommandError(f"{owner} is no admin of the bank {bank.bank_id}. {NOTHING}")
        asked = Asked([bank.pk for bank in banks], options["scope"], self.project(options), self.seeds(options))
        start = seeding.preview if options["dry_run"] else seeding.create
        job = start(user=owner, asked=asked, via=Write.Via.CLI, here=True)
        ended = jobs.run(job.pk, slice_seconds=None)
        job.refresh_from_db()
        if ended != Job.State.DONE:
            raise CommandError(job.error or "The database did not answer. A worker goes on with it.")
        self.tell(job, banks, options)
        if left := sum(not row.seed for row in seeding.rows_of(job)):
            raise CommandError(f"{left:,} of {len(banks):,} banks left alone; the reason stands above.")

    def project(self, options: dict[str, Any]) -> str:
        """A tagged scope without a project would be one that nobody retains under."""
        project: str = options["project"]
        if options["scope"] == scope.TAGGED and not project.strip():
            raise CommandError(f"Say whose models: --project PATH, or another --scope. {NOTHING}")
        if len(project) > scope.LONGEST_PROJECT:
            raise CommandError(f"A project has at most {scope.LONGEST_PROJECT:,} characters. {NOTHING}")
        return project

    def seeds(self, options: dict[str, Any]) -> list[str]:
        known = [spec.id for spec in library.every()]
        for each in options["seed"]:
            if each not in known:
                raise CommandError(f"There is no seed {each}. There are: {', '.join(known)}. {NOTHING}")
        return list(options["seed"])

    def tell(self, job: Job, banks: list[Bank], options: dict[str, Any]) -> None:
        named = {bank.pk: bank.bank_id for bank in banks}
        rows = seeding.rows_of(job)
        if options["json"]:
            told = [{**_told(row), "bank": named[row.bank]} for row in rows]
            self.report({"job": job.pk, "dry_run": options["dry_run"], "result": job.result, "rows": told}, options)
            return
        lines = [(named[row.bank], row.seed or "-", row.model, WORDS[row.status], _more(row)) for row in rows]
        if lines:
            self.table(lines)
        made = sum(row.status == "create" for row in rows)
        models = "model" if made == 1 else "models"
        self.stdout.write(
            f"{made:,} {models} would be made. Nothing was sent."
            if options["dry_run"]
            else f"{made:,} {models} queued. `memadmin export log` and the write log say what became of them."
        )


def _more(row: Row) -> str:
    said = [row.reason, f"differs in {', '.join(row.differs)}" if row.differs else ""]
    return " ".join(each for each in said if each)


def _told(row: Row) -> dict[str, Any]:
    names = ("status", "reason", "seed", "model", "tags", "found_tags", "differs", "write")
    return {name: getattr(row, name) for name in names}

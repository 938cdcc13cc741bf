import json
import sys
import time
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.management.base import CommandError
from django.http import Http404

from banks import retain
from banks.management.base import PersonCommand
from banks.models import Bank, RetainItem, Write
from banks.retain import params, scope

State = RetainItem.State
UNDER_WAY = [State.QUEUED, State.SENT]
LOOKS_EVERY = 0.5  # seconds
NOTHING = "Nothing was stored."


class Command(PersonCommand):
    help = (
        "Queues memories for a bank: a text, a file as one memory, or with --items a JSON list of memories with all "
        "that a retain takes. They are stored at once and sent by the workers."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("memory", nargs="?", default="-", help="a text, a file, or - for standard input")
        parser.add_argument("--bank", metavar="ID", help="the bank, by the id agents use; default: the only one")
        parser.add_argument("--server", metavar="NAME", help="where several servers have a bank of that id")
        parser.add_argument("--items", action="store_true", help="what is given is a JSON list of items")
        parser.add_argument("--context", help="how it came up; default: that of the bank")
        parser.add_argument("--document", metavar="ID", help="the document it becomes; default: one of its own")
        parser.add_argument("--tag", action="append", default=[], metavar="TAG", help="may be given several times")
        parser.add_argument("--scope", choices=scope.MODES, default=scope.GLOBAL, help="how projects are told apart")
        parser.add_argument("--project", default="", metavar="PATH", help="whose memory it is")
        parser.add_argument("--user-bank", action="store_true", help="the bank of --bank is a person's")
        parser.add_argument("--wait", action="store_true", help="until the bank has it; exit 1 when it does not")
        parser.add_argument("--timeout", type=float, default=300.0, metavar="S", help="of --wait; default: 300")

    def handle(self, **options: Any) -> None:
        owner = self.owner(options["person"])
        server = self.server(options["server"])
        if options["user_bank"] and not options["bank"]:
            raise CommandError(f"A person's bank is named: --bank ID. {NOTHING}")
        bank = self.bank(owner, options["bank"], server, NOTHING) if options["bank"] else self.only_bank()
        try:
            queued = retain.enqueue(
                user=owner,
                bank=bank,
                items=retain.parse(self.items(options)),
                via=Write.Via.CLI,
                mode=options["scope"],
                project=options["project"],
                user_bank=options["user_bank"],
            )
        except retain.Refused as refused:
            raise CommandError("\n".join(str(problem) for problem in refused.problems)) from refused
        except (retain.BankClosed, Http404) as refused:
            raise CommandError(str(refused)) from refused
        except PermissionDenied as refused:
            raise CommandError(f"{owner} may not write into the bank {bank.bank_id}. {NOTHING}") from refused
        keys = [item.pk for item in queued.items]
        if options["wait"]:
            self.wait(keys, options["timeout"])
        rows = list(RetainItem.objects.filter(pk__in=keys).order_by("pk"))
        self.tell(queued, rows, options)
        if options["wait"] and any(row.state != State.DONE for row in rows):
            sys.exit(1)

    def only_bank(self) -> Bank:
        banks = list(Bank.objects.select_related("server")[:2])
        if len(banks) != 1:
            raise CommandError(f"Say which bank: --bank ID. There is not exactly one. {NOTHING}")
        return banks[0]

    def items(self, options: dict[str, Any]) -> Any:
        text = self.text(options["memory"])
        if options["items"]:
            try:
                return json.loads(text)
            except (ValueError, RecursionError) as error:
                raise CommandError(f"That is no JSON: {error}. {NOTHING}") from error
        return [
            {
                "content": text,
                "context": options["context"],
                "document_id": options["document"],
                "tags": options["tag"],
            }
        ]

    def text(self, given: str) -> str:
        """The file of this name when there is one, else the words themselves."""
        try:
            if given == "-":
                return sys.stdin.buffer.read(params.MOST_BYTES + 1).decode("utf-8", "replace")
            path = Path(given).expanduser()
            if len(given) < 4096 and "\0" not in given and path.is_file():
                with path.open("rb") as file:
                    return file.read(params.MOST_BYTES + 1).decode("utf-8", "replace")
        except OSError as error:
            raise CommandError(f"{given} cannot be read: {error.strerror or error}. {NOTHING}") from error
        return given

    def wait(self, keys: list[int], seconds: float) -> None:
        until = time.monotonic() + seconds
        under_way = RetainItem.objects.filter(pk__in=keys, state__in=UNDER_WAY)
        try:
            while under_way.exists() and time.monotonic() < until:
                time.sleep(LOOKS_EVERY)
        except KeyboardInterrupt:
            raise CommandError("Not waited for any longer. They stay queued.", returncode=130) from None

    def tell(self, queued: retain.Queued, rows: list[RetainItem], options: dict[str, Any]) -> None:
        if options["json"]:
            items = [
                {"id": row.pk, "document_id": row.document_id, "state": row.state, "facts": row.fact_count}
                | {"error": row.error}
                for row in rows
            ]
            told = {"count": queued.count, "message": queued.message, "items": items, "notes": queued.notes}
            self.report(told, options)
            return
        self.stdout.write(queued.message)
        self.table((row.pk, row.document_id, row.get_state_display(), row.error or _facts(row)) for row in rows)
        for note in queued.notes:
            self.stdout.write(self.plain(note))


def _facts(row: RetainItem) -> str:
    if row.fact_count is None:
        return ""
    return f"{row.fact_count:,} {'fact' if row.fact_count == 1 else 'facts'}"

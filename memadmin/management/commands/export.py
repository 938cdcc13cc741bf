from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path
from typing import Any

from memadmin.bounded import BoundedLines
from memadmin.exported import SOURCES
from memadmin.exporting import FORMATS
from memadmin.management.base import ReportCommand


class Command(ReportCommand):
    help = "Writes the reviews, the write log or the decisions about facts as JSON lines or CSV, row by row."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("what", choices=sorted(SOURCES))
        parser.add_argument("--format", choices=sorted(FORMATS), default="jsonl")
        parser.add_argument("--output", "-o", default="-", metavar="FILE", help="default: standard output")
        parser.add_argument("--bank", default="", metavar="ID", help="only this bank, by the id agents use")
        parser.add_argument("--max-items", type=_cap, metavar="N", help="stop after so many rows")
        parser.add_argument("--max-bytes", type=_cap, metavar="N", help="stop before so many bytes are exceeded")
        parser.add_argument("--with-text", action="store_true", help="with the texts")

    def handle(self, **options: Any) -> None:
        fields, source = SOURCES[options["what"]]
        rows = source(bank_id=options["bank"], with_text=options["with_text"])
        lines = BoundedLines(
            FORMATS[options["format"]](fields, rows),
            max_items=options["max_items"],
            max_bytes=options["max_bytes"],
            header=options["format"] == "csv",
        )
        if options["output"] == "-":
            for line in lines:
                self.stdout.write(line, ending="")
            if lines.omitted:
                self.stderr.write(lines.notice(options["what"]))
            return
        with Path(options["output"]).open("w", encoding="utf-8", newline="") as stream:
            stream.writelines(lines)
        told: dict[str, Any] = {"rows": lines.rows, "bytes": lines.bytes, "file": options["output"]}
        self.report(told | ({"notice": lines.notice(options["what"])} if lines.omitted else {}), options)


def _cap(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ArgumentTypeError("a whole number from 0")
    return int(text)

from argparse import ArgumentParser
from pathlib import Path
from typing import IO, Any

from memadmin.exporting import FORMATS, SOURCES
from memadmin.management.base import ReportCommand


class Command(ReportCommand):
    help = "Writes the reviews or the write log as JSON lines or CSV, row by row."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("what", choices=sorted(SOURCES))
        parser.add_argument("--format", choices=sorted(FORMATS), default="jsonl")
        parser.add_argument("--output", "-o", default="-", metavar="FILE", help="default: standard output")
        parser.add_argument("--bank", default="", metavar="ID", help="only this bank, by the id agents use")
        parser.add_argument("--with-text", action="store_true", help="reviews: with the text of each memory")

    def handle(self, **options: Any) -> None:
        fields, source = SOURCES[options["what"]]
        rows = source(bank_id=options["bank"], with_text=options["with_text"])
        lines = FORMATS[options["format"]](fields, rows)
        if options["output"] == "-":
            for line in lines:
                self.stdout.write(line, ending="")
            return
        with Path(options["output"]).open("w", encoding="utf-8", newline="") as stream:
            count = self.write(stream, lines) - (options["format"] == "csv")
        self.report({"rows": count, "file": options["output"]}, options)

    def write(self, stream: IO[str], lines: Any) -> int:
        count = 0
        for line in lines:
            count += 1
            stream.write(line)
        return count

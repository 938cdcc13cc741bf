import json
import sys
from argparse import ArgumentParser
from collections import Counter
from dataclasses import asdict
from typing import Any

from memadmin.diagnosis import diagnose
from memadmin.management.base import ReportCommand


class Command(ReportCommand):
    registers_first_server = False
    help = (
        "Looks for problems (`memadmin check`), and says the cause and the fix of each. Exit code 0: everything works, "
        "though there may be warnings; 1: something does not; 2: it was not called as it should be."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--strict", action="store_true", help="warnings count as errors")

    def handle(self, **options: Any) -> None:
        findings = diagnose()
        if options["json"]:
            levels = Counter(finding.level for finding in findings)
            told = {"findings": [asdict(each) for each in findings], "errors": levels["error"]}
            self.stdout.write(json.dumps({**told, "warnings": levels["warning"]}, ensure_ascii=False))
        elif not findings:
            self.stdout.write("No problems found.")
        for finding in [] if options["json"] else findings:
            self.stdout.write(self.plain(f"{finding.level}: {finding.area}: {finding.what}"))
            if finding.fix:
                self.stdout.write(self.plain(f"    {finding.fix}"))
        if any(finding.level == "error" or options["strict"] for finding in findings):
            sys.exit(1)

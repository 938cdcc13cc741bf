"""`python -m tests.bench [NAME ...]`: runs the measures, prints a table and writes bench.json."""

import argparse
import contextlib
import json
import os
import platform
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.bench.measures import MEASURES
from tests.bench.timing import Result
from tests.bench.world import EMBEDDED, POSTGRESQL, ROOT, Profile
from tests.services.servers import CannotStart, started

OUTPUT = ROOT / "bench.json"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Measures ratios against floors.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(MEASURES)}; default: all")
    parser.add_argument("--profile", choices=[EMBEDDED, POSTGRESQL], action="append", help="default: both")
    options = parser.parse_args()
    if unknown := set(options.names) - set(MEASURES):
        parser.error(f"there is no measure {', '.join(sorted(unknown))}")
    results: list[Result] = []
    with contextlib.ExitStack() as stack:
        profiles = _profiles(stack, options.profile or [EMBEDDED, POSTGRESQL])
        for measure in dict.fromkeys(MEASURES[name] for name in options.names or MEASURES):
            print(f"{measure.__name__} ...", file=sys.stderr, flush=True)
            start = time.monotonic()
            results += measure(profiles)
            print(f"{measure.__name__}: {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
    report = {"machine": machine(), "commit": commit(), "results": [result.as_json() for result in results]}
    OUTPUT.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    print(table(results))
    return 0


def _profiles(stack: contextlib.ExitStack, wanted: list[str]) -> list[Profile]:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="memadmin-bench-")))
    profiles = [Profile(EMBEDDED, folder)] if EMBEDDED in wanted else []
    if POSTGRESQL in wanted:
        try:
            server = stack.enter_context(started())["MEMADMIN_TEST_DATABASE_URL"]
            profiles.append(Profile(POSTGRESQL, folder, server))
        except CannotStart as error:
            print(f"left out: {POSTGRESQL} ({error})", file=sys.stderr)
    return profiles


def machine() -> dict[str, Any]:
    memory = re.search(r"MemTotal:\s+(\d+)", Path("/proc/meminfo").read_text(encoding="ascii"))
    model = re.search(r"model name\s*:\s*(.+)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    return {
        "cores": len(os.sched_getaffinity(0)),
        "processor": model[1] if model else platform.processor(),
        "memory_mb": int(memory[1]) // 1024 if memory else None,
        "load_before": round(os.getloadavg()[2], 1),
        "system": platform.platform(),
        "python": platform.python_version(),
        "sqlite": sqlite3.sqlite_version,
        "postgres": _said("postgres", "--version"),
    }


def commit() -> str:
    """With a + where the working copy has changes."""
    changed = _said("git", "status", "--porcelain", "--untracked-files=no")
    return _said("git", "rev-parse", "--short=12", "HEAD") + ("+" if changed else "")


def _said(*command: str) -> str:
    if shutil.which(command[0]) is None:
        return ""
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()


def table(results: list[Result]) -> str:
    rows = [("measure", "profile", "ours", "floor", "ratio", "goal", "")]
    for result in results:
        reached = {True: "reached", False: "not reached", None: ""}[result.reached]
        numbers = (f"{result.ours:,.1f} {result.unit}", f"{result.floor:,.1f} {result.unit}", f"{result.ratio:.2f}")
        rows.append((result.name, result.profile, *numbers, f"{result.goal:g}" if result.goal else "", reached))
    widths = [max(len(row[at]) for row in rows) for at in range(7)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


sys.exit(main())

"""`python -m tests.faults --rounds 50 --seed 1`: kills processes while people decide, and audits what is left."""

import argparse
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

from tests.faults import stack as stacks


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--rounds", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--import-rounds", type=int, default=3, help="as many uploads whose import is killed")
    parser.add_argument("--retain-rounds", type=int, default=200, help="in which programs retain while processes die")
    parser.add_argument("--log", type=Path, help="where the product's own output goes")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(143))  # whoever ends us: nothing is left
    with tempfile.TemporaryDirectory(prefix="memadmin-faults-") as name:
        folder = Path(name)
        with stacks.running(folder) as stack:
            try:
                return _play(stack, options)
            finally:
                if options.log:
                    options.log.write_text(stack.up.output)


def _play(stack: stacks.Stack, options: argparse.Namespace) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memadmin.settings")
    import django

    django.setup()
    from tests.faults.session import Session

    began = time.monotonic()
    session = Session(stack, options.rounds)
    session.prepare()
    faults = 0
    for number in range(1, options.rounds + 1):
        result = session.round(number, options.seed * 1000 + number)
        faults += len(result.found.all)
        if result.stuck:
            break
    for number in range(1, options.import_rounds + 1):
        faults += session.import_round(number, options.seed * 1000 + number)
    print(session.summary(time.monotonic() - began), flush=True)
    faults += session.retain_rounds(options.retain_rounds, options.seed)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

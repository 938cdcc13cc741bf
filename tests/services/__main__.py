import argparse
import os
import signal
import subprocess
import sys
from functools import partial
from types import FrameType

from memadmin.runtime import die_with_parent
from tests.services.servers import CannotStart, started


class Ended(Exception):
    """Somebody wants us to end."""


def _end(number: int, frame: FrameType | None) -> None:
    raise Ended


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.services", description="Runs a command beside a temporary PostgreSQL and Redis."
    )
    parser.add_argument("what", choices=["run"])
    parser.add_argument("command", nargs="+", metavar="-- COMMAND")
    command = parser.parse_args().command
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGHUP, _end)
    try:
        with started() as variables:
            return _run(command, variables)
    except CannotStart as error:
        print(f"cannot start: {error}", file=sys.stderr)
        return 1
    except (Ended, KeyboardInterrupt):
        return 130


def _run(command: list[str], variables: dict[str, str]) -> int:
    """The command's own exit code. The servers stay until it has ended, however it is ended."""
    process = subprocess.Popen(
        command, env={**os.environ, **variables}, preexec_fn=partial(die_with_parent, os.getpid())
    )
    while True:
        try:
            code = process.wait()
        except KeyboardInterrupt:
            continue  # Ctrl-C reaches the command by itself
        except Ended:
            process.terminate()
            continue
        return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main())

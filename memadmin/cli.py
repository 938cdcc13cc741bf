"""`memadmin`: the product's own commands in front of everything that manage.py has."""

import os
import sys
from collections.abc import Sequence

OWN = {
    "up": "run memadmin on this machine until Ctrl-C",
    "login-link": "make a one-time sign-in link",
    "check": "look for problems; each with its cause and what to do",
    "import-queue": "import a review-queue.jsonl",
    "import-log": "import an agent's log.jsonl into the write log of a bank",
    "retain": "queue memories for a bank",
    "seed": "make the mental models of our seeds in banks, where they are missing",
    "sync": "send this machine's queue file and log to a memadmin elsewhere, and take decisions back",
    "export": "write reviews or the log as JSON lines or CSV",
    "expire": "approve by time what is due, or show what would be",
    "rescreen": "have waiting memories screened anew, after rules have changed",
    "backup": "copy the database to a file, while memadmin runs",
    "unlock": "let somebody sign in again after too many wrong passwords",
    "reset-factor": "take away the second factor of somebody who lost it",
    "rotate-keys": "encrypt stored secrets under a new key",
    "prepare": "migrate, collect static files, register the first server and operator",
    "adopt-environment": "make the database say what HINDSIGHT_BASE_URL and HINDSIGHT_API_KEY say",
}
# Names of ours that differ from the module that holds the command.
MODULES = {"check": "diagnose"}
OF_OUR_CHECK = {"--json", "--strict", "--help", "-h"}


def main(arguments: Sequence[str] | None = None) -> int:
    command, *rest = list(sys.argv[1:] if arguments is None else arguments) or ["help"]
    if command == "up":
        from memadmin.up.run import main as up

        return up(rest)
    if command == "sync":
        from memadmin.syncing.command import main as sync

        return sync(rest)
    if command in {"help", "--help", "-h"} and not rest:
        return _help()
    if command == "--version":
        from memadmin import __version__

        print(__version__)
        return 0
    return _django(command, rest)


def _django(command: str, rest: Sequence[str]) -> int:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memadmin.settings")
    if not os.environ.get("MEMADMIN_SUPERVISED"):
        from memadmin.up.choice import enter_current

        enter_current(os.environ)
    from django.core.management import execute_from_command_line

    try:
        execute_from_command_line(["memadmin", _module(command, rest), *rest])
        sys.stdout.flush()
    except BrokenPipeError:  # `memadmin export log | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _module(command: str, rest: Sequence[str]) -> str:
    """Our dashed names are modules with underscores. `check` with options of Django's check is Django's."""
    if command in MODULES:
        return command if set(rest) - OF_OUR_CHECK else MODULES[command]
    return command.replace("-", "_") if not command.startswith("-") else command


def _help() -> int:
    width = max(map(len, OWN))
    print("memadmin: the review desk for agent memory\n")
    for name, text in OWN.items():
        print(f"  {name:{width}}  {text}")
    print("\n`memadmin COMMAND --help` tells more; `memadmin help --commands` lists everything of manage.py too.")
    return 0

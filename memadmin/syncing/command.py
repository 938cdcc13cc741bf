"""`memadmin sync`: options, once or again and again, and what is printed."""

import argparse
import json
import os
import signal
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

import httpx

from banks.addresses import Address, BadAddress
from memadmin.syncing.client import Api, BadUrl, base_of, plain
from memadmin.syncing.queue import Ours
from memadmin.syncing.state import Busy, Store, default_path
from memadmin.syncing.trouble import Trouble
from memadmin.syncing.turn import Plan, Sync, Turn

EVERY = 10.0  # seconds between two turns
LONGEST_PAUSE = 300.0
LASTING = 60.0  # between two tries when only a person can help
TURNS = 5  # of one run; a file that changes all the time is left to the next one
COUNTS = {"sent": "new", "known": "known before", "skipped": "unreadable", "elsewhere": "of other servers"}
SHOWN = ("sent", "accepted", "known", "older", "superseded", "parked", "skipped", "elsewhere")


class Stopped(BaseException):
    """SIGTERM or SIGINT. It may come between any two steps, and the next run does the rest."""

    def __init__(self, sign: int) -> None:
        super().__init__(sign)
        self.sign = sign


class Wrong(Exception):
    """The command line cannot be used; str() says why."""


def main(arguments: Sequence[str]) -> int:
    """0 when all was done, 1 when something was not, 2 for a command line that cannot be used."""
    options = parser().parse_args(list(arguments))
    try:
        command = Command(options, os.environ)
        for sign in (signal.SIGTERM, signal.SIGINT):
            signal.signal(sign, _stop)
        return command.run()
    except Wrong as wrong:
        print(f"memadmin sync: {wrong}", file=sys.stderr)
        return 2
    except Stopped as stopped:
        print("Stopped. The next run goes on from here.", file=sys.stderr)
        return 0 if options.watch else 128 + stopped.sign


def _stop(sign: int, frame: Any) -> NoReturn:
    raise Stopped(sign)


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="memadmin sync",
        description="Sends what is new in an agent's queue file and log of this machine to a memadmin, and writes what "
        "was decided there into the queue file. The token is read from a file or from MEMADMIN_TOKEN.",
    )
    add = made.add_argument
    add("--url", default=os.environ.get("MEMADMIN_URL", ""), help="of memadmin; default: MEMADMIN_URL")
    kept = os.environ.get("MEMADMIN_TOKEN_FILE", "")
    add("--token-file", metavar="FILE", default=kept, help="default: MEMADMIN_TOKEN_FILE, or MEMADMIN_TOKEN itself")
    add("--bank", required=True, metavar="ID", help="the bank, by the id agents use")
    add("--server", default="", metavar="NAME", help="where several servers have a bank of that id")
    add("--queue", metavar="FILE", help="default: where the agent's tool writes; off for none")
    add("--log", metavar="FILE", help="a project's log.jsonl; default: none")
    meant = "how the queue file names the server; default: any address of this machine itself"
    add("--address", action="append", default=[], metavar="URL", help=meant)
    add("--namespace", default="default", metavar="NAME", help="as the queue file names it; default: default")
    add("--machine", default=socket.gethostname(), metavar="NAME", help="whose files these are; default: this host")
    add("--state", metavar="FILE", help="what is remembered; default: one below ~/.local/state/memadmin")
    add("--watch", action="store_true", help="again and again, until it is stopped")
    add("--every", type=_seconds, default=EVERY, metavar="S", help=f"of --watch; default: {EVERY:.0f}")
    add("--timeout", type=_seconds, default=300.0, metavar="S", help="how long an import is waited for; default: 300")
    add("--strict", action="store_true", help="exit 1 for lines that cannot be read or placed")
    add("--json", action="store_true", help="print JSON: one object, or one a line with --watch")
    return made


class Command:
    def __init__(
        self,
        options: argparse.Namespace,
        environ: Mapping[str, str],
        *,
        sleep: Callable[[float], None] = time.sleep,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        self.options, self._environ, self._sleep = options, environ, sleep
        self._queue = _queue_file(options.queue, environ)
        self._log = Path(options.log).expanduser().absolute() if options.log else None
        if self._queue is None and self._log is None:
            raise Wrong("There is nothing to do: neither --queue nor --log.")
        try:
            base = base_of(options.url)
            addresses = frozenset(map(Address.parse, options.address))
            self._token()
        except (BadUrl, BadAddress, Trouble) as error:
            raise Wrong(str(error)) from error
        self._ours = Ours(options.bank, addresses, options.namespace)
        self.api = Api(base, self._token, transport=transport, sleep=sleep)
        self._sync: Sync | None = None

    def run(self) -> int:
        try:
            store = self._store()
            with store.alone():
                return self._watch(store) if self.options.watch else self._once(store)
        except Busy:
            return self._fail("Another sync of this bank and these files is at work.")
        except Trouble as trouble:
            return self._fail(str(trouble))
        finally:
            self.api.close()

    def _once(self, store: Store) -> int:
        whole = Turn()
        for _ in range(TURNS):
            turn = self._turn(store)
            for name in ("queue", "log", "back"):
                getattr(whole, name).update(getattr(turn, name))
            whole.problems, whole.again = turn.problems, turn.again
            if turn.problems or not turn.again:
                break
        self._tell(whole)
        left = whole.queue + whole.log
        unplaced = self.options.strict and (left["skipped"] or left["parked"])
        return int(bool(whole.problems or whole.again or unplaced))

    def _watch(self, store: Store) -> NoReturn:
        told, failures = "", 0
        self._say(f"Looking every {self.options.every:g} s. Ctrl-C ends it.")
        while True:
            turn = self._turn(store)
            if turn.did_something:
                self._tell(turn)
            said = "\n".join(map(str, turn.problems))
            if said != told:
                self._say(said or "It works again.")
            told, failures = said, failures + 1 if turn.problems else 0
            self._sleep(_pause(turn, failures, self.options.every))

    def _turn(self, store: Store) -> Turn:
        try:
            if self._sync is None:
                named = self._server(), self.options.machine
                plan = Plan(self._ours, *named, self._queue, self._log, self.options.timeout)
                self._sync = Sync(self.api, plan, store, sleep=self._sleep)
        except Trouble as trouble:
            return Turn(problems=[trouble])
        except (KeyError, TypeError):
            return Turn(problems=[Trouble(f"What answers at {self.api.base} is not memadmin's API. Look at --url.")])
        return self._sync.turn()

    def _server(self) -> str:
        """The name of the server that has the bank. Raises Trouble."""
        bank, wanted = self.options.bank, self.options.server
        found = [each for each in self.api.pages("/banks", "banks") if each["bank"] == bank]
        names = [str(each["server"]) for each in found if wanted in ("", each["server"])]
        if len(names) == 1:
            return names[0]
        if names:
            told = f"Several servers have a bank {bank}: {plain(', '.join(names))}. Say --server NAME."
            raise Trouble(told, lasts=True)
        raise Trouble(f"There is no bank {bank} that this token may see.", lasts=True)

    def _store(self) -> Store:
        of = {
            "url": self.api.base,
            "bank": [self.options.bank, self.options.server, self.options.namespace],
            "addresses": sorted(map(str, self._ours.addresses)),
            "files": [str(self._queue or ""), str(self._log or "")],
            "machine": self.options.machine,
        }
        given = self.options.state
        return Store(Path(given).expanduser().absolute() if given else default_path(of, self._environ), of)

    def _token(self) -> str:
        """Raises Trouble."""
        file, token = self.options.token_file, self._environ.get("MEMADMIN_TOKEN", "")
        try:
            token = Path(file).expanduser().read_text(encoding="ascii") if file else token
        except (OSError, ValueError) as error:
            told = f"The file with the token cannot be read ({type(error).__name__})."
            raise Trouble(told, lasts=True) from error
        token = token.strip()
        if not token:
            raise Trouble("A token is needed: --token-file FILE, or MEMADMIN_TOKEN.", lasts=True)
        if not token.isprintable() or not token.isascii() or " " in token:
            raise Trouble("The file of the token holds something else. It has the token alone.", lasts=True)
        return token

    # ── what is printed ──────────────────────────────────────────────────────────────────────────────────────

    def _tell(self, turn: Turn) -> None:
        problems = [str(problem) for problem in turn.problems]
        if self.options.json:
            said = {"queue": dict(turn.queue), "log": dict(turn.log), "taken_back": dict(turn.back)}
            print(json.dumps(said | {"waiting": turn.again, "problems": problems}, ensure_ascii=False), flush=True)
            return
        back = ", ".join(f"{count:,} {name}" for name, count in turn.back.items())
        rows = [("queue", self._queue, _counted(turn.queue)), ("log", self._log, _counted(turn.log))]
        for name, path, told in [*rows, ("taken back", self._queue, back)]:
            if path and (told or not problems):
                nothing = "nothing new" if path.exists() else f"{path} is not there yet"
                print(f"{name:10}  {told or nothing}", flush=True)
        if not self.options.watch:
            for problem in problems:
                print(problem, file=sys.stderr)
            if turn.again:
                print("The queue file has changed meanwhile. Run it again for the rest.", file=sys.stderr)
        if turn.queue["parked"]:
            print("Parked lines wait on the page Imports, until somebody says where they belong.")

    def _say(self, text: str) -> None:
        print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)

    def _fail(self, told: str) -> int:
        if self.options.json:
            print(json.dumps({"problems": [told]}, ensure_ascii=False), flush=True)
        else:
            print(told, file=sys.stderr)
        return 1


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 < seconds <= 86_400:
        raise argparse.ArgumentTypeError("seconds, up to a day")
    return seconds


def _pause(turn: Turn, failures: int, every: float) -> float:
    """Seconds until the next turn: longer with each failure, and as long as the server asks."""
    if not turn.problems:
        return every
    wanted: list[float] = [max(trouble.again_in, LASTING if trouble.lasts else 0) for trouble in turn.problems]
    return max(every, min(every * 2.0 ** min(failures, 10), LONGEST_PAUSE), *wanted)


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{counts[name]:,} {COUNTS.get(name, name)}" for name in SHOWN if counts[name])


def _queue_file(given: str | None, environ: Mapping[str, str]) -> Path | None:
    if given == "off":
        return None
    named = given or environ.get("HINDSIGHT_REVIEW_QUEUE") or "~/.pi/hindsight/review-queue.jsonl"
    return Path(named).expanduser().absolute()

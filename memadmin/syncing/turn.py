"""One turn: what is new goes to memadmin, and when it has it, decisions come back into the queue file.

Killed between any two steps, the next turn does the rest. An import is known by its content (Idempotency-Key, and
memadmin stores no line twice), a decision by what the file says already.
"""

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from memadmin.syncing import log, queue
from memadmin.syncing.client import AGAIN, Api, plain
from memadmin.syncing.files import Mark, Replaced, Signature, appending, content_of, lines_of, signature_of
from memadmin.syncing.queue import Ours, Wait
from memadmin.syncing.state import Part, Store
from memadmin.syncing.trouble import FileTrouble, Trouble

MOST_BYTES = 16 * 1024 * 1024  # of one request; a document's lines stay together
LOOKS = (0.5, 1.0, 2.0, 5.0)  # seconds between two looks at an import, the last one again and again
TRIES = 3


@dataclass(frozen=True)
class Plan:
    """`timeout`: seconds that one import is waited for."""

    ours: Ours
    server: str
    machine: str
    queue: Path | None = None
    log: Path | None = None
    timeout: float = 300.0


@dataclass
class Turn:
    """What one did. `again`: the file changed meanwhile, and something waits for the next turn."""

    queue: Counter[str] = field(default_factory=Counter)
    log: Counter[str] = field(default_factory=Counter)
    back: Counter[str] = field(default_factory=Counter)
    problems: list[Trouble] = field(default_factory=list)
    again: bool = False

    @property
    def did_something(self) -> bool:
        return bool(self.queue or self.log or self.back)


class _News(NamedTuple):
    data: bytes
    begin: int  # of what is new in it


class Sync:
    def __init__(self, api: Api, plan: Plan, store: Store, *, sleep: Callable[[float], None] = time.sleep) -> None:
        self.api, self.plan, self.store, self._sleep = api, plan, store, sleep
        self._seen: dict[Path, Signature] = {}

    def turn(self) -> Turn:
        """A problem with one file does not stop the others, one with memadmin ends the turn. Both are in its result."""
        turn = Turn()
        for step in (self._push_queue, self._take_back, self._push_log):
            try:
                step(turn)
            except FileTrouble as trouble:
                turn.problems.append(trouble)
            except Replaced:
                turn.again = True
            except Trouble as trouble:
                turn.problems.append(trouble)
                break
            except (KeyError, TypeError, ValueError):
                told = f"{self.api.base} answers something else than is documented. Compare its version with this one."
                turn.problems.append(Trouble(told, lasts=True))
                break
        return turn

    # ── there ────────────────────────────────────────────────────────────────────────────────────────────────

    def _push_queue(self, turn: Turn) -> None:
        state, ours = self.store.state, self.plan.ours
        for news in self._news(self.plan.queue, state.queue):
            found = queue.read(news.data, news.begin, ours)
            counts = Counter(sent=sum(line.new for line in found.lines))
            counts.update(skipped=found.skipped, elsewhere=found.elsewhere)
            named = {"machine": self.plan.machine, "localhost": self.plan.server if ours.has_loopback else ""}
            for body in queue.lots(news.data, found.lines, MOST_BYTES):
                counts += self._import(state.queue, "/imports/queue", body, named)
            if news.begin == 0 or counts["older"]:
                # Of what is there for the first time, or came late, decisions may have been read already.
                state.cursor = ""
            turn.queue = +counts

    def _push_log(self, turn: Turn) -> None:
        part, named = self.store.state.log, {"bank": self.plan.ours.bank, "server": self.plan.server}
        for news in self._news(self.plan.log, part):
            lines = log.read(news.data, news.begin)
            counts = Counter(sent=sum(line.new for line in lines))
            for body in queue.lots(news.data, lines, MOST_BYTES):
                counts += self._import(part, "/imports/log", body, named)
            turn.log = +counts

    def _news(self, path: Path | None, part: Part) -> Iterator[_News]:
        """What is new in the file, once. When its reader comes back for more, it is known from then on."""
        signature = signature_of(path) if path else None
        if path is None or (signature is not None and signature == self._seen.get(path)):
            return
        data = lines_of(path)
        begin = part.mark.begin_in(data)
        if not begin == len(data) == part.mark.read:
            yield _News(data, begin)
            part.mark, part.jobs = Mark.of(data), {}
            self.store.save()
        if signature is not None and signature.size == len(data):
            self._seen[path] = signature

    def _import(self, part: Part, path: str, body: bytes, named: dict[str, str]) -> Counter[str]:
        """Until memadmin has it. One that failed is sent once more by the next turn."""
        for _ in range(TRIES):
            key = f"{_digest(path, named, body)}-{part.attempt}"
            if key not in part.jobs:
                part.jobs[key] = int(self.api.send(path, body, key=key, **named)["id"])
                self.store.save()
            told = self._ended(part.jobs[key])
            if told and told["state"] == "done":
                return Counter({str(each["what"]): int(each["count"]) for each in told["counts"]})
            part.attempt += 1
            del part.jobs[key]
            self.store.save()
            if told:
                raise Trouble(f"The import did not end well there: {plain(str(told['error'])[:500]) or told['state']}")
        raise Trouble(f"{self.api.base} forgets imports as soon as it takes them. Look at its workers.")

    def _ended(self, job: int) -> dict[str, Any] | None:
        """The job when it has ended, None when nobody knows it any more, or another token started it."""
        waited, looks = 0.0, iter(LOOKS)
        while True:
            try:
                told = self.api.get(f"/jobs/{job}")
            except Trouble as trouble:
                if trouble.status == 404:
                    return None
                raise
            if told["state"] in ("done", "failed", "cancelled"):
                return told
            if waited >= self.plan.timeout:
                raise Trouble(f"The import waits there for a worker. {AGAIN}")
            pause = next(looks, LOOKS[-1])
            self._sleep(pause)
            waited += pause

    # ── and back ─────────────────────────────────────────────────────────────────────────────────────────────

    def _take_back(self, turn: Turn) -> None:
        """Every line is written before the cursor moves; what waits keeps it where it is."""
        if self.plan.queue is None:
            return
        rows, cursor = self._decisions()
        if rows and content_of(self.plan.queue):
            self._write(self.plan.queue, rows, turn)
        if not turn.again and cursor != self.store.state.cursor:
            self.store.state.cursor = cursor
            self.store.save()

    def _decisions(self) -> tuple[dict[str, dict[str, Any]], str]:
        """The latest standing decision of each document since the cursor."""
        found: dict[str, dict[str, Any]] = {}
        cursor, more = self.store.state.cursor, True
        asked = {"bank": self.plan.ours.bank, "server": self.plan.server, "limit": 200}
        while more:
            page = self.api.get("/decisions", cursor=cursor, **asked)
            queue.standing(_rows_of(page["decisions"], self.plan), found)
            cursor, more = str(page["next"]), bool(page["more"])
        return found, cursor

    def _write(self, path: Path, rows: dict[str, dict[str, Any]], turn: Turn) -> None:
        pushed = self.store.state.queue.mark
        with appending(path) as file:
            if pushed.begin_in(file.data) != pushed.read:
                raise Replaced
            documents = queue.read(file.data, pushed.read, self.plan.ours).documents
            for document_id, row in rows.items():
                try:
                    line = queue.answer_to(row, documents.get(document_id), self.plan.ours, pushed.read)
                except Wait:
                    turn.again = True
                    continue
                if line is not None:
                    file.append(line)
                    turn.back["added again" if row["verdict"] == queue.REOPENED else row["verdict"]] += 1


def _rows_of(rows: Iterable[dict[str, Any]], plan: Plan) -> Iterable[dict[str, Any]]:
    """What is not about our bank never counts, whatever the answer holds."""
    return (row for row in rows if (row["bank"], row["server"]) == (plan.ours.bank, plan.server))


def _digest(path: str, named: dict[str, str], body: bytes) -> str:
    digest = hashlib.sha256(repr((path, sorted(named.items()))).encode("utf-8", "replace"))
    digest.update(body)
    return digest.hexdigest()

"""One round: people decide, processes are killed, everything drains, the auditor looks."""

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from django.db import connection

from banks.models import Bank
from reviews.models import ReviewEntry
from tests.faults import evidence, world
from tests.faults.audit import Findings, judge
from tests.faults.people import PRESSES, Act, Reviewer
from tests.faults.stack import VICTIMS, Stack

DOCUMENTS = 9
MOST_KILLS = 4
# A kill comes so many seconds after somebody has pressed a button: before, in and after what it sets off.
USUAL_KILL, LATEST_KILL = 0.12, 0.6
AT_ONCE = {1: 6, 2: 3, 3: 1}  # how many die together: how often
DRAINED_WITHIN = 400.0  # seconds; far above what it takes
SLOW = 20.0  # seconds, above which it is said what was waited for


@dataclass
class Round:
    number: int
    seed: int
    kills: list[str] = field(default_factory=list)
    acts: int = 0
    done: int = 0
    cut: int = 0
    drained: float = 0.0
    waited_for: list[str] = field(default_factory=list)
    stuck: bool = False  # it did not drain, and the next one would not either
    found: Findings = field(default_factory=Findings)

    def line(self) -> str:
        figures = f"{self.acts:5} {self.done:5} {self.cut:4} {self.drained:7.1f}"
        return f"{self.number:5} {self.seed:7} {figures} {self.found.figures}  {' '.join(self.kills) or '-'}"


HEAD = "round    seed  acts  done  cut  drained  lost  doubled  unexplained  killed"


class Play:
    """Rounds on one running stack."""

    def __init__(self, stack: Stack, bank: Bank, sessions: dict[str, str]) -> None:
        self.stack, self.bank, self.sessions = stack, bank, sessions

    def round(self, number: int, seed: int, entries: list[int]) -> Round:
        result = Round(number, seed)
        before = world.Contents.read(self.stack.demo_file)
        deleted = Counter(self.stack.line.journal.deleted)
        self.stack.line.kill_sender = lambda port: self._kill_sender(result, port)
        self.stack.line.lie(seed)
        acts = self._act_and_kill(result, entries)
        acted = time.monotonic()
        self.stack.line.lie(None)
        seen_open: list[list[str]] = []
        left = wait_until_quiet(lambda: evidence.open_work(entries), self.stack, seen_open)
        result.drained = time.monotonic() - acted
        if result.drained > SLOW:
            result.waited_for = seen_open[-1]
        seen = evidence.collect(
            acts=acts,
            entries=entries,
            before=before,
            now=world.Contents.read(self.stack.demo_file),
            deleted=self.stack.line.journal.deleted - deleted,
        )
        result.found = judge(seen)
        result.stuck = bool(left)
        result.found.lost += [f"not finished after {DRAINED_WITHIN:g} s: {what}" for what in left]
        result.acts, result.done, result.cut = len(acts), sum(act.done for act in acts), sum(act.cut for act in acts)
        return result

    def _act_and_kill(self, result: Round, entries: list[int]) -> list[Act]:
        dice = random.Random(result.seed)
        presses = threading.Semaphore(0)
        people = [
            Reviewer(name, self.stack.address, session, seed=f"{result.seed} {name}", pressing=presses.release)
            for name, session in self.sessions.items()
        ]
        with ThreadPoolExecutor(len(people)) as pool:
            working = [pool.submit(person.review, entries) for person in people]
            for _ in range(dice.randint(1, MOST_KILLS)):
                for _ in range(dice.randint(1, PRESSES)):
                    presses.acquire(timeout=5)
                time.sleep(min(dice.expovariate(1 / USUAL_KILL), LATEST_KILL))
                together = dice.choices(list(AT_ONCE), list(AT_ONCE.values()))[0]
                for victim in dice.sample(VICTIMS, together):
                    if self.stack.kill(victim, dice.choice):
                        result.kills.append(victim.replace(" ", "-"))
            for one in working:
                one.result()
        return [act for person in people for act in person.acts]

    def _kill_sender(self, result: Round, port: int) -> None:
        if self.stack.kill_sender(port):
            result.kills.append("door-in-a-call")


def wait_until_quiet(
    open_work: Callable[[], list[str]], stack: Stack, seen: list[list[str]] | None = None
) -> list[str]:
    """What is still open when the time is over. Quiet means: nothing to do, and everybody is there to do more.

    `seen` is given what was open at each look.
    """
    deadline = time.monotonic() + DRAINED_WITHIN
    while left := open_work() or ([] if stack.answers() else ["the web server"]):
        connection.close()  # each look is a fresh one, and nobody waits for us
        if seen is not None:
            seen.append(left)
        if time.monotonic() > deadline:
            break
        time.sleep(0.2)
    connection.close()
    return left


def entries_of(bank: Bank, document_ids: list[str]) -> list[int]:
    found = ReviewEntry.objects.filter(bank=bank, document_id__in=document_ids)
    return list(found.order_by("pk").values_list("pk", flat=True))

"""Rounds of the retain queue: programs retain, processes die, the line lies; then every memory is looked for."""

import json
import random
import sqlite3
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import redis
from django.conf import settings
from django.db import connection

from banks import writes
from banks.models import Bank, RetainItem, Role, Server, Write
from banks.services import tokens
from memadmin.accounts.models import User
from tests.faults.audit import Findings
from tests.faults.programs import REQUESTS, Asked, Program
from tests.faults.rounds import AT_ONCE, DRAINED_WITHIN, LATEST_KILL, MOST_KILLS, USUAL_KILL, wait_until_quiet
from tests.faults.stack import VICTIMS, Stack

BANK = "kill-retains"
PROGRAMS = ("one", "two", "three")
WIPED = 0.15  # how often the broker forgets everything
HEAD = "retains  seed  requests  accepted  batches  drained  lost  doubled  unexplained  killed"


@dataclass
class RetainRound:
    number: int
    seed: int
    kills: list[str] = field(default_factory=list)
    requests: int = 0
    accepted: int = 0
    batches: int = 0
    drained: float = 0.0
    found: Findings = field(default_factory=Findings)

    def line(self) -> str:
        figures = f"{self.requests:9} {self.accepted:9} {self.batches:8} {self.drained:8.1f}"
        return f"{self.number:7} {self.seed:5} {figures} {self.found.figures}  {' '.join(self.kills) or '-'}"


def open_bank(stack: Stack) -> tuple[Bank, str]:
    """The bank, made past memadmin, and a token for it."""
    httpx.put(f"http://127.0.0.1:{stack.line.target}/v1/default/banks/{BANK}", json={"name": BANK}).raise_for_status()
    server = Server.objects.get(base_url=stack.line.url)
    bank = Bank.objects.get_or_register(server=server, bank_id=BANK)
    agent, _ = User.objects.get_or_create(username="agent", defaults={"is_superuser": True})
    return bank, tokens.issue(owner=agent, name="agent", role=Role.REVIEWER, banks=None, days=1).text


class RetainPlay:
    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.bank, self.token = open_bank(stack)

    def round(self, number: int, seed: int) -> RetainRound:
        result = RetainRound(number, seed)
        self.stack.line.kill_sender = lambda port: self._kill_sender(result, port)
        self.stack.line.lie(seed)
        asked = self._retain_and_kill(result)
        began = time.monotonic()
        self.stack.line.lie(None)
        left = self._drain()
        result.drained = time.monotonic() - began
        result.found.lost += [f"not finished after {DRAINED_WITHIN:g} s: {what}" for what in left]
        result.requests, result.accepted = len(asked), sum(each.accepted for each in asked)
        self._judge(result, asked)
        return result

    def _retain_and_kill(self, result: RetainRound) -> list[Asked]:
        dice = random.Random(result.seed)
        asking = threading.Semaphore(0)
        programs = [
            Program(name, self.stack.address, self.token, BANK, seed=f"{result.seed} {name}", asking=asking.release)
            for name in PROGRAMS
        ]
        with ThreadPoolExecutor(len(programs)) as pool:
            working = [pool.submit(program.retain) for program in programs]
            for _ in range(dice.randint(1, MOST_KILLS)):
                for _ in range(dice.randint(1, REQUESTS)):
                    asking.acquire(timeout=5)
                time.sleep(min(dice.expovariate(1 / USUAL_KILL), LATEST_KILL))
                if dice.random() < WIPED and self._wipe():
                    result.kills.append("wiped-broker")
                together = dice.choices(list(AT_ONCE), list(AT_ONCE.values()))[0]
                for victim in dice.sample(VICTIMS, together):
                    if self.stack.kill(victim, dice.choice):
                        result.kills.append(victim.replace(" ", "-"))
            for one in working:
                one.result()
        return [each for program in programs for each in program.asked]

    def _wipe(self) -> bool:
        """Every message on its way is forgotten."""
        with suppress(redis.RedisError):
            return bool(redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2).flushall())
        return False

    def _kill_sender(self, result: RetainRound, port: int) -> None:
        if self.stack.kill_sender(port):
            result.kills.append("door-in-a-call")

    def _drain(self) -> list[str]:
        """Until all is quiet; whatever waits for a person gets one."""
        for _ in range(3):
            left = wait_until_quiet(self._open_work, self.stack)
            waiting = list(Write.objects.filter(bank=self.bank, kind="retain", state=Write.State.ATTENTION))
            if left or not waiting:
                return left
            agent = User.objects.get(username="agent")
            for write in waiting:
                writes.retry(write=write, actor=agent)
        return [f"write {write.pk} needs a person again and again: {write.error_text}" for write in waiting]

    def _open_work(self) -> list[str]:
        under_way = [RetainItem.State.QUEUED, RetainItem.State.SENT]
        items = RetainItem.objects.filter(bank=self.bank, state__in=under_way).values_list("pk", "state")
        rows = Write.objects.filter(bank=self.bank, state__in=Write.OPEN).values_list("pk", "state")
        return [f"{name} {row}" for name, found in (("memory", items), ("write", rows)) for row in found]

    def _judge(self, result: RetainRound, asked: list[Asked]) -> None:
        connection.close()
        found = result.found
        prefix = f"{result.seed} "
        items = list(RetainItem.objects.filter(bank=self.bank).select_related("content", "write").order_by("pk"))
        ours = [item for item in items if f" wrote {prefix}" in item.content.text]
        result.batches = len({item.write_id for item in ours})
        stored = Counter(item.content.text for item in ours)
        for each in asked:
            strange = [answer for answer in each.answers if answer not in ("202", "cut")]
            found.unexplained += [f"{answer}: request {each.key}" for answer in strange]
            for text in each.texts:
                if stored[text] != 1:
                    kind = found.doubled if stored[text] else found.lost
                    kind.append(f"stored {stored[text]} times: {text!r}")
        found.unexplained += [f"a row nobody asked for: {text!r}" for text in stored if text not in _texts_of(asked)]
        found.lost += [f"{item.pk} is {item.state}: {item.error}" for item in ours if item.state != "done"]
        self._judge_bank(found, ours)

    def _judge_bank(self, found: Findings, ours: list[RetainItem]) -> None:
        documents, operations = read_bank(self.stack.demo_file)
        latest = {item.document_id: item.content.text for item in ours}
        for document_id, text in latest.items():
            if documents.get(document_id) != text:
                found.lost.append(f"{document_id}: the bank holds {documents.get(document_id)!r}, sent was {text!r}")
        wanted = Counter(item.content.text for item in ours)
        carried = Counter(text for texts in operations.values() for text in texts if text in wanted)
        for text in wanted:
            if carried[text] != 1:
                kind = found.doubled if carried[text] else found.lost
                kind.append(f"retained {carried[text]} times: {text!r}")
        known = set(Write.objects.filter(bank=self.bank, kind="retain").values_list("operation_id", flat=True))
        strange = {operation for operation in operations if operation not in {str(each) for each in known}}
        found.unexplained += [f"an operation of no row: {operation}" for operation in strange]


def _texts_of(asked: list[Asked]) -> set[str]:
    return {text for each in asked for text in each.texts}


def read_bank(file: Path) -> tuple[dict[str, str], dict[str, list[str]]]:
    """({document: text}, {operation: the texts it was to store}) of the bank, from the demo server's file."""
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as db:
        documents = dict(db.execute("SELECT id, text FROM documents WHERE bank_id = ?", [BANK]).fetchall())
        operations: dict[str, list[str]] = {}
        for parent, items in db.execute(
            "SELECT parent_id, items FROM operations WHERE bank_id = ? AND type = 'retain' ORDER BY rowid", [BANK]
        ):
            operations.setdefault(parent, []).extend(item["content"] for item in json.loads(items))
        return documents, operations

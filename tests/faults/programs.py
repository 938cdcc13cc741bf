"""Agents as programs: they retain memories by the API, impatiently, and remember what they were told.

Nobody answers: they send the same again, under the same key, as a program is told to do.
"""

import random
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.faults.people import PATIENCE, PAUSE

REQUESTS, MOST_ITEMS = 5, 6  # of one program in one round
NAMED = 0.4  # how often a memory names its document; some name the same one again
SESSIONS = 2  # documents that a program writes again and again


@dataclass
class Asked:
    """One request, and what was answered to it. `texts`: of its items, in order."""

    key: str
    texts: list[str]
    answers: list[str] = field(default_factory=list)  # "202", "cut", "fault 500"
    documents: list[str] = field(default_factory=list)  # as answered

    @property
    def accepted(self) -> bool:
        return "202" in self.answers


class Program:
    def __init__(
        self, name: str, address: str, token: str, bank: str, *, seed: str, asking: Callable[[], None]
    ) -> None:
        """`asking()` is told before each request."""
        self.name, self.address, self.bank = name, address, bank
        self.headers = {"Authorization": f"Bearer {token}"}
        self.random, self.asking = random.Random(seed), asking
        self.seed = seed
        self.asked: list[Asked] = []

    def retain(self) -> None:
        with httpx.Client(base_url=self.address, timeout=30) as http:
            for number in range(REQUESTS):
                time.sleep(self.random.uniform(0.0, 0.4))
                self._ask(http, number)

    def _ask(self, http: httpx.Client, number: int) -> None:
        items = [self._item(number, at) for at in range(self.random.randint(1, MOST_ITEMS))]
        asked = Asked(str(uuid.UUID(int=self.random.getrandbits(128))), [item["content"] for item in items])
        self.asked.append(asked)
        self.asking()
        body = {"bank": self.bank, "items": items, "session_id": self.name}
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            try:
                answer = http.post("/api/v1/retain", json=body, headers={**self.headers, "Idempotency-Key": asked.key})
            except httpx.ConnectError:
                pass  # nobody listened: nothing can have happened
            except httpx.TransportError:
                asked.answers.append("cut")
            else:
                asked.answers.append("202" if answer.status_code == 202 else f"fault {answer.status_code}")
                if asked.accepted:
                    asked.documents = [item["document_id"] for item in answer.json()["items"]]
                if answer.status_code < 500:
                    return
            time.sleep(PAUSE)
        asked.answers.append("never answered")

    def _item(self, number: int, at: int) -> dict[str, Any]:
        name = "".join(chr(97 + int(digit)) for digit in f"{self.random.randrange(10**8):08}").capitalize()
        item: dict[str, Any] = {"content": f"{name} wrote {self.seed}, request {number}, item {at}. Проверено: ✓."}
        if self.random.random() < NAMED:
            item["document_id"] = f"{self.seed} session {self.random.randrange(SESSIONS)}"
        return item

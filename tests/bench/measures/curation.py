"""Decisions about facts, on a real server where one is installed, and on the demo server."""

import sys
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from http.server import ThreadingHTTPServer
from statistics import median
from threading import Thread

import httpx

from banks.demo import DemoServer, Pace
from banks.demo.process import Handler
from tests.bench.timing import Result
from tests.bench.world import EMBEDDED, Profile
from tests.hindsight.runner import KEY, CannotStart, Home, used

FACTS = 200  # each of a document of its own
TIMES = 2
GOAL = 1.8  # the server's own ceiling is about 2.1
TRIES = 5
PEOPLE, ROUNDS = 50, 10


class Remote:
    """A bank of its own on a server, spoken to with nothing of ours between."""

    def __init__(self, url: str) -> None:
        self.id = f"bench-{uuid.uuid4().hex[:12]}"
        self._path = f"/v1/default/banks/{self.id}"
        headers = {"authorization": f"Bearer {KEY}"}
        self.http = httpx.Client(base_url=url, headers=headers, timeout=60, trust_env=False)

    def call(self, method: str, path: str, **more: object) -> dict[str, object]:
        answer = self.http.request(method, self._path + path, **more)  # type: ignore[arg-type]  # as httpx takes it
        answer.raise_for_status()
        return answer.json()  # type: ignore[no-any-return]

    def fill(self) -> list[list[str]]:
        """[id, document, text] of one fact of each document."""
        self.call("PUT", "", json={"name": "Bench"})
        items = [{"document_id": f"notes/{n}", "content": f"Ledger {n} is kept in the cellar."} for n in range(FACTS)]
        for start in range(0, FACTS, 50):
            self.call("POST", "/memories", json={"items": items[start : start + 50], "async": True})
        self.quiet()
        rows = self._list("valid")
        return list({row["document_id"]: [row["id"], row["document_id"], row["text"]] for row in rows}.values())

    def retire(self, facts: list[list[str]]) -> None:
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda fact: self._patch(fact[0], "invalidated"), facts))
        self.quiet()

    def restore_one_by_one(self, facts: list[list[str]]) -> float:
        start = time.perf_counter()
        for fact_id, *_ in facts:
            self._patch(fact_id, "valid")
        return time.perf_counter() - start

    def restore_at_once(self, facts: list[list[str]]) -> float:
        """With nothing of ours between: what the server itself can do."""
        start = time.perf_counter()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda fact: self._patch(fact[0], "valid"), facts))
        return time.perf_counter() - start

    def lost(self, facts: list[list[str]]) -> int:
        """How many are not there as valid ones."""
        there = {row["id"] for row in self._list("valid")}
        return sum(fact_id not in there for fact_id, *_ in facts)

    def quiet(self) -> None:
        """Until nothing runs any more: what is made of facts is made anew after each change."""
        while self.call("GET", "/stats", params={"refresh": "true"})["pending_operations"]:
            time.sleep(0.2)

    def _patch(self, fact_id: str, state: str) -> None:
        """Again where the server met itself: several changes at once end in its deadlocks now and then."""
        for _ in range(TRIES):
            answer = self.http.patch(f"{self._path}/memories/{fact_id}", json={"state": state})
            if answer.status_code < 500:
                break
        answer.raise_for_status()

    def _list(self, state: str) -> list[dict[str, str]]:
        found = self.call("GET", "/memories/list", params={"state": state, "type": "world", "limit": 10_000})
        return found["items"]  # type: ignore[return-value]


def restore_speedup(profiles: list[Profile]) -> Iterator[Result]:
    """Bulk-restoring facts of different documents, against one call after the other by a bare HTTP client."""
    with ExitStack() as stack:
        try:
            real = stack.enter_context(used(Home.from_environment(), install=False))
        except CannotStart as error:
            print(f"left out: restore_speedup on a real server ({error})", file=sys.stderr)
        else:
            for profile in profiles:
                yield from _restored(profile, real.url, profile.name, GOAL)
    for profile in profiles:
        if profile.name == EMBEDDED:
            with demo() as url:
                yield from _restored(profile, url, f"{EMBEDDED}, demo server", None)


def _restored(profile: Profile, url: str, name: str, goal: float | None) -> Iterator[Result]:
    ours, floor, ceiling = list[float](), list[float](), list[float]()
    lost, repeated, other = 0, 0, 0
    remote = Remote(url)
    facts = remote.fill()
    assert len(facts) == FACTS, len(facts)
    with profile.inside() as django:
        django.call("curation:prepare", url=url, key=KEY, bank_id=remote.id, facts=facts)
        for _ in range(TIMES):
            remote.retire(facts)
            told = django.call("curation:restore")
            ours.append(told["seconds"])
            lost += remote.lost(facts)
            repeated += told["repeated"]
            other += FACTS - told["states"].get("done", 0)
            remote.retire(facts)
            floor.append(remote.restore_one_by_one(facts))
            remote.quiet()
            remote.retire(facts)
            ceiling.append(remote.restore_at_once(facts))
            remote.quiet()
    remote.call("DELETE", "")
    note = f"{FACTS} facts, {TIMES} times: {lost} lost, {repeated} repeated, {other} not confirmed"
    yield Result("restore_speedup", median(ours), median(floor), "s", name, goal, note, speedup=True)
    note = "the floor's calls, four at a time: more than this the server does not do here"
    yield Result("restore_speedup_ceiling", median(ceiling), median(floor), "s", name, None, note, speedup=True)


@contextmanager
def demo() -> Iterator[str]:
    server = DemoServer(pace=Pace.instant(), api_key=KEY)
    http = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"demo": server}))
    http.daemon_threads = True
    Thread(target=http.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{http.server_address[1]}"
    finally:
        http.shutdown()
        http.server_close()
        server.close()


def fact_edits(profiles: list[Profile]) -> Iterator[Result]:
    """Many people change the text of one fact at the same instant: one wins, all others are told."""
    for profile in profiles:
        with profile.inside() as django:
            rounds = [django.call("curation:edit_at_once", people=PEOPLE) for _ in range(ROUNDS)]
        winners = _worst(rounds, lambda answers: answers.get("303", 0), 1)
        refused = _worst(rounds, lambda answers: answers.get("409", 0), PEOPLE - 1)
        other = sum(PEOPLE - answers.get("303", 0) - answers.get("409", 0) for answers in rounds)
        note = f"{ROUNDS} rounds of {PEOPLE}: {refused} × 409 in each, {other} other answers"
        # Any other number of winners than one, too many or too few, and any other answer, misses the goal.
        yield Result("fact_edits", 1 + abs(winners - 1) + other, 1, "winners", profile.name, 1.0, note)


def _worst(rounds: list[dict[str, int]], number: Callable[[dict[str, int]], int], wanted: int) -> int:
    return max((number(answers) for answers in rounds), key=lambda each: abs(each - wanted))

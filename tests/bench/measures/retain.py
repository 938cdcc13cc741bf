"""The retain queue: how fast memories go through it, and how long a program waits for its answer."""

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import httpx

from tests.bench.timing import Result
from tests.bench.world import EMBEDDED, ROOT, Inside, Profile, clean_environment
from tests.stack.support import running

MEMORIES, PER_REQUEST = 2_000, 16
RATE_GOAL, POST_GOAL = 0.7, 3.0
TURNS = 3
POSTS, WARM_UP = 300, 20
LOOKS_EVERY = 0.1  # seconds
PATIENCE = 300.0


def retain_rate(profiles: list[Profile]) -> Iterator[Result]:
    """API, worker and demo server until all is in the bank; against the same batches sent by nothing but httpx."""
    if not any(profile.name == EMBEDDED for profile in profiles):
        return
    with tempfile.TemporaryDirectory(prefix="memadmin-bench-") as folder, demo(Path(folder) / "demo") as url:
        data_dir = Path(folder) / "var"
        ours, floor, sizes = [], [], list[int]()
        with running(data_dir, "--port", "0", new=True, HINDSIGHT_BASE_URL=url) as up:
            address = up.wait_until_ready()
            with Inside(data_dir) as django:
                for turn in range(TURNS):
                    taken, batches = _turn(address, url, django, f"bench-{turn}")
                    _until_all_read(django)  # for review, from the same server: the floor is measured by itself
                    ours.append(taken)
                    sizes += [len(batch) for batch in batches]
                    floor.append(_past_us(url, f"floor-{turn}", batches))
    note = f"{MEMORIES:,} memories, {median(sizes):g} in a batch"
    yield Result("retain_rate", median(ours), median(floor), "s", EMBEDDED, RATE_GOAL, note, speedup=True)


def retain_post(profiles: list[Profile]) -> Iterator[Result]:
    """The 95th percentile of a POST against that of a view that asks for the same token and does nothing."""
    for profile in profiles:
        with profile.inside() as django:
            token = django.call("retaining:prepare", url="http://nobody.example:1", banks=["bench"])
            for items in (1, PER_REQUEST):
                taken = []
                for _ in range(POSTS + WARM_UP):
                    one = django.call("retaining:post", token=token, bank="bench", items=items)
                    taken.append((one, django.call("retaining:floor", token=token)))
                ours, floor = ([each[at] for each in taken[WARM_UP:]] for at in (0, 1))
                name, goal = ("retain_post", POST_GOAL) if items == 1 else (f"retain_post_{items}", None)
                yield Result(name, _p95(ours), _p95(floor), "ms", profile.name, goal, "95th percentile")


def _turn(address: str, url: str, django: Inside, bank: str) -> tuple[float, list[list[dict[str, Any]]]]:
    """Seconds through us, and what we sent."""
    httpx.put(f"{url}/v1/default/banks/{bank}", json={"name": bank}).raise_for_status()
    token = django.call("retaining:prepare", url=url, banks=[bank])
    return _through_us(address, token, url, bank), django.call("retaining:batches", bank=bank)


def _through_us(address: str, token: str, url: str, bank: str) -> float:
    texts = [f"Person{_letters(number)} keeps ledger {number}." for number in range(MEMORIES)]
    headers = {"Authorization": f"Bearer {token}"}
    start = time.perf_counter()
    with httpx.Client(base_url=address, headers=headers, timeout=60) as http:
        for at in range(0, MEMORIES, PER_REQUEST):
            items = [{"content": text} for text in texts[at : at + PER_REQUEST]]
            http.post("/api/v1/retain", json={"bank": bank, "items": items}).raise_for_status()
    return _until_all_there(url, bank, start)


def _past_us(url: str, bank: str, batches: list[list[dict[str, Any]]]) -> float:
    httpx.put(f"{url}/v1/default/banks/{bank}", json={"name": bank}).raise_for_status()
    start = time.perf_counter()
    with httpx.Client(base_url=url, timeout=60) as http:
        for batch in batches:
            body = {"items": batch, "async": True}
            http.post(f"/v1/default/banks/{bank}/memories", json=body).raise_for_status()
    return _until_all_there(url, bank, start)


def _until_all_there(url: str, bank: str, start: float) -> float:
    with httpx.Client(base_url=url, timeout=60) as http:
        while True:
            found = http.get(f"/v1/default/banks/{bank}/documents", params={"limit": 0}).json()["total"]
            taken = time.perf_counter() - start
            if found == MEMORIES:
                return taken
            assert taken < PATIENCE, f"{found} of {MEMORIES} memories after {taken:.0f} s"
            time.sleep(LOOKS_EVERY)


def _until_all_read(django: Inside) -> None:
    start = time.perf_counter()
    while left := django.call("retaining:unread"):
        assert time.perf_counter() - start < PATIENCE, f"{left} memories are not read for review"
        time.sleep(1)


def _p95(values: list[float]) -> float:
    return quantiles(values, n=20)[-1]


def _letters(number: int) -> str:
    """A name of letters alone, another one for each memory: facts of two never meet in an observation."""
    letters = ""
    while True:
        number, rest = divmod(number, 26)
        letters = chr(ord("a") + rest) + letters
        if not number:
            return letters


@contextmanager
def demo(folder: Path) -> Iterator[str]:
    """A demo server as a process of its own; its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "banks.demo", "--data", str(folder)],
        cwd=ROOT,
        env=clean_environment(folder),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        told = re.search(r"(http://\S+:\d+)$", process.stdout.readline().strip())
        assert told, "the demo server did not start"
        yield told[1]
    finally:
        process.terminate()
        process.wait(30)

"""Bounded text against a slice of the whole: what looking at each chunk costs, and what it saves in memory."""

import time
import tracemalloc
from collections.abc import Iterator

from memadmin.retention import TextRetainer
from tests.bench.timing import Result, in_turns
from tests.bench.world import EMBEDDED, Profile

CHUNK = 64 * 1024
KEPT = 16 * 1024  # bytes, as a card shows
SIZES = {"1 MB": 1_000_000, "100 MB": 100_000_000}
TEXT = ("Ann keeps the ledger, Bén reads it, 記憶. " * 2_000).encode()


def retention(profiles: list[Profile]) -> Iterator[Result]:
    """The floor keeps all chunks, joins them and cuts the two ends out, as one would without a budget."""
    del profiles  # no database is asked
    for name, size in SIZES.items():
        chunks = size // CHUNK
        ours, floor = in_turns(lambda n=chunks: _timed(_bounded, n), lambda n=chunks: _timed(_sliced, n), times=7)
        yield Result("retention_time", ours * 1000, floor * 1000, "ms", EMBEDDED, note=f"{name} in 64 KiB chunks")
        yield Result("retention_peak", _peak(_bounded, chunks), _peak(_sliced, chunks), "kB", EMBEDDED, note=name)


def _chunks(count: int) -> Iterator[bytes]:
    """Chunks as a socket gives them: each a new object."""
    whole = (TEXT * (CHUNK // len(TEXT) + 2))[:CHUNK]
    for _ in range(count):
        yield bytes(memoryview(whole))


def _bounded(count: int) -> str:
    retainer = TextRetainer("head_tail", head_bytes=KEPT, tail_bytes=KEPT)
    for chunk in _chunks(count):
        retainer.push(chunk)
    return retainer.finish().text


def _sliced(count: int) -> str:
    whole = b"".join(_chunks(count))
    return (whole[:KEPT] + whole[-KEPT:]).decode("utf-8", "replace")


def _timed(run: object, count: int) -> float:
    start = time.perf_counter()
    run(count)  # type: ignore[operator]
    return time.perf_counter() - start


def _peak(run: object, count: int) -> float:
    tracemalloc.start()
    run(count)  # type: ignore[operator]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak / 1000

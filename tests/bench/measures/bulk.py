"""One verdict on ten thousand memories, on each database."""

from collections.abc import Iterator

from tests.bench.timing import Result
from tests.bench.world import Profile

COUNT = 10_000


def bulk_10k(profiles: list[Profile]) -> Iterator[Result]:
    for profile in profiles:
        with profile.inside() as django:
            django.call("fill:fill", entries=60_000, banks=12, seen=6)
            counted = django.call("bulk:counting")
            floor = django.call("bulk:floor", count=COUNT)
            taken = django.call("bulk:decide", count=COUNT)
            note = f"counted exactly in {counted:.1f} s"
            yield Result("bulk_10k", taken, floor, "s", profile.name, None, note)

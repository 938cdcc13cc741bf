from collections.abc import Iterator

from tests.bench.timing import Result, in_turns
from tests.bench.world import Profile

TIMES = 150


def decision(profiles: list[Profile]) -> Iterator[Result]:
    """An approval through all of Django, against an authenticated view that does one UPDATE and answers nothing."""
    for profile in profiles:
        with profile.inside() as django:
            django.call("fill:fill", entries=6_000, banks=12, seen=6)
            for name, ours, goal in [
                ("decision", "approve", 2.0),
                ("decision_next_card", "approve_and_see_the_next", None),
            ]:
                taken, floor = in_turns(
                    lambda name=ours: django.call(f"decisions:{name}"),
                    lambda: django.call("decisions:floor"),
                    times=TIMES,
                    warm_up=10,
                )
                yield Result(name, taken, floor, "ms", profile.name, goal)

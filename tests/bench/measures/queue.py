from collections.abc import Iterator
from functools import partial

from tests.bench.timing import Result, in_turns
from tests.bench.world import Inside, Profile

FEW, MANY, COMPARED = 1_000, 1_000_000, 100_000
BANKS, SEEN = 40, 6  # of the banks; "some" is what a reviewer of a few teams sees
TIMES = 40


def queue_growth(profiles: list[Profile]) -> Iterator[Result]:
    """The same page with a million memories and with a thousand, in turns."""
    for profile in profiles:
        with profile.inside() as many, profile.inside() as few:
            for django, entries in [(many, MANY), (few, FEW)]:
                django.call("fill:fill", entries=entries, banks=BANKS, seen=SEEN)
            for name, user, path, goal in [
                ("queue_growth", "root", "/reviews/", 1.3),
                ("queue_growth_some_banks", "mira", "/reviews/", 1.3),
                ("queue_growth_deep_page", "root", "", 1.3),
                ("queue_growth_deep_some_banks", "mira", "", 1.3),
                ("queue_growth_overview", "root", "/", 1.3),
                ("queue_growth_overview_some_banks", "mira", "/", 1.3),
            ]:
                ours, floor = in_turns(_get(many, user, path), _get(few, user, path), times=TIMES, warm_up=5)
                yield Result(name, ours, floor, "ms", profile.name, goal)


def queue_vs_admin(profiles: list[Profile]) -> Iterator[Result]:
    """Our queue against Django's admin changelist over the same table, with the same columns, filters and page size."""
    for profile in profiles:
        with profile.inside() as django:
            django.call("fill:fill", entries=COMPARED, banks=BANKS, seen=SEEN)
            ours, floor = in_turns(
                _get(django, "root", "/reviews/"), _get(django, "root", "/floor/admin/reviews/reviewentry/"), times=20
            )
            yield Result("queue_vs_admin", ours, floor, "ms", profile.name, 0.25)


def _get(django: Inside, user: str, path: str) -> partial[float]:
    """No path: a page in the middle of the queue."""
    path = path or django.call("pages:middle", user=user)
    return partial(django.call, "pages:get", path=path, user=user)

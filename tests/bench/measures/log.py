from collections.abc import Iterator
from functools import partial

from tests.bench.measures.queue import BANKS, FEW, MANY, SEEN, TIMES
from tests.bench.timing import Result, in_turns
from tests.bench.world import Inside, Profile

# name → (who asks, the address or what finds it)
ASKED = {
    "log_growth": ("root", "/log/"),
    "log_growth_some_banks": ("mira", "/log/"),
    "log_growth_bank": ("root", "log:largest_bank"),
    "log_growth_kind": ("root", "/log/?kind=edit"),
    "log_growth_kind_state": ("root", "/log/?kind=edit&state=attention"),
    "log_growth_who": ("mira", "/log/?who=me"),
    "log_growth_deep_page": ("root", "log:middle"),
    "log_growth_deep_some_banks": ("mira", "log:middle"),
}


def log_growth(profiles: list[Profile]) -> Iterator[Result]:
    """The same page of the write log with a million rows and with a thousand, in turns."""
    for profile in profiles:
        with profile.inside() as many, profile.inside() as few:
            for django, writes in [(many, MANY), (few, FEW)]:
                django.call("log:grow", writes=writes, banks=BANKS, seen=SEEN)
            for name, (user, asked) in ASKED.items():
                ours, floor = in_turns(_get(many, user, asked), _get(few, user, asked), times=TIMES, warm_up=5)
                yield Result(name, ours, floor, "ms", profile.name, 1.3)


def _get(django: Inside, user: str, asked: str) -> partial[float]:
    if asked == "log:middle":
        asked = django.call(asked, user=user)
    elif asked.startswith("log:"):
        asked = django.call(asked)
    return partial(django.call, "pages:get", path=asked, user=user)

"""Two things timed in turns, so that a busy machine is busy for both."""

import statistics
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Result:
    """`ratio` is ours / floor, smaller is better; of a `speedup` it is floor / ours, how many times as fast we are."""

    name: str
    ours: float
    floor: float
    unit: str
    profile: str
    goal: float | None = None  # of the ratio, or without a floor of `ours`; None = shown beside those that have one
    note: str = ""
    speedup: bool = False

    @property
    def ratio(self) -> float:
        part, whole = (self.floor, self.ours) if self.speedup else (self.ours, self.floor)
        return part / whole if whole else 0.0

    @property
    def reached(self) -> bool | None:
        if self.goal is None:
            return None
        return self.ratio >= self.goal if self.speedup else self.ratio <= self.goal

    def as_json(self) -> dict[str, Any]:
        values = asdict(self)
        for name in ("ours", "floor"):
            values[name] = round(values[name], 4)
        return {**values, "ratio": round(self.ratio, 3)}


def in_turns(
    ours: Callable[[], float], floor: Callable[[], float], *, times: int, warm_up: int = 2
) -> tuple[float, float]:
    """Medians of `times` each, after `warm_up` that do not count. Both return what one run took."""
    for _ in range(warm_up):
        ours(), floor()
    taken = [(ours(), floor()) for _ in range(times)]
    return statistics.median(one for one, _ in taken), statistics.median(other for _, other in taken)

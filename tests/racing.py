"""Several acts at the same instant, each in a thread with a database connection of its own."""

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

from django.db import connection

from reviews.errors import NotDecided

ROUNDS = 50
_PATIENCE = 180.0  # seconds; only a deadlock lasts so long


def at_once(*acts: Callable[[], object], often_switched: bool = True) -> list[object]:
    """What each act returned, or the refusal it met. Any other error of one of them is raised here.

    `often_switched`: between any two steps; for many threads that takes long, and they are many anyway.
    """
    barrier = threading.Barrier(len(acts))
    results: list[object] = [None] * len(acts)
    errors: list[Exception] = []

    def run(number: int, act: Callable[[], object]) -> None:
        try:
            barrier.wait(timeout=_PATIENCE)
            results[number] = act()
        except NotDecided as refused:
            results[number] = refused
        except Exception as error:  # noqa: BLE001  whatever it is, the test fails with it
            errors.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=item, daemon=True) for item in enumerate(acts)]
    with _often_switched() if often_switched else nullcontext():
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(_PATIENCE)
    assert not any(thread.is_alive() for thread in threads), "they wait for each other"
    if errors:
        raise errors[0]
    return results


def refusals(results: list[object]) -> list[NotDecided]:
    return [result for result in results if isinstance(result, NotDecided)]


@contextmanager
def _often_switched() -> Iterator[None]:
    """Between any two steps, as often as the interpreter can: what may interleave does."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        yield
    finally:
        sys.setswitchinterval(usual)

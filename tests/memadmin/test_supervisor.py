"""How soon a dead process is started again."""

import time

import pytest

from memadmin.supervisor import FIRST_WAIT, LONGEST_WAIT, STEADY, Child, Program


@pytest.fixture
def child() -> Child:
    return Child(Program("worker", ["true"], tier=1))


def test_what_dies_at_once_waits_longer_each_time(child: Child) -> None:
    child.started = time.monotonic()
    waits = [child.next_wait() for _ in range(8)]
    assert waits[:4] == [FIRST_WAIT, 2 * FIRST_WAIT, 4 * FIRST_WAIT, 8 * FIRST_WAIT]
    assert waits[-1] == LONGEST_WAIT


def test_what_had_come_up_and_worked_is_started_again_at_once(child: Child) -> None:
    child.started = time.monotonic()
    for _ in range(8):
        child.next_wait()
    child.started = time.monotonic() - STEADY - 1
    assert child.next_wait() == FIRST_WAIT

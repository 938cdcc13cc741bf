from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from memadmin.templatetags.spark import spark
from memadmin.templatetags.words import counted, due, near, number
from memadmin.words import ago, span

NOON = datetime(2026, 3, 16, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("length", "said"),
    [
        (timedelta(0), "0 s"),
        (timedelta(seconds=59.9), "59 s"),
        (timedelta(seconds=60), "1 min"),
        (timedelta(hours=2, minutes=10), "2 h 10 min"),
        (timedelta(hours=3), "3 h"),
        (timedelta(days=6, hours=21), "6 d 21 h"),
        (timedelta(days=45, hours=5), "45 d"),
        (-timedelta(minutes=5), "5 min"),
    ],
)
def test_lengths(length: timedelta, said: str) -> None:
    assert span(length) == said


@time_machine.travel(NOON, tick=False)
def test_moments() -> None:
    assert ago(NOON - timedelta(minutes=2)) == "2 min ago"
    assert ago(NOON) == "just now"
    assert ago(NOON + timedelta(hours=1)) == "in 1 h"
    assert ago(None) == "never"
    assert due(NOON + timedelta(hours=2)) == "in 2 h"
    assert due(NOON - timedelta(hours=2)) == "at any moment"
    assert near(NOON + timedelta(hours=24))
    assert not near(NOON + timedelta(hours=24, seconds=1))
    assert not near(None)


def test_numbers() -> None:
    assert number(1284) == "1,284"
    assert number(None) == "unknown"
    assert counted(1, "fact,facts") == "1 fact"
    assert counted(1204, "fact,facts") == "1,204 facts"


def test_a_spark_without_values_has_no_bars() -> None:
    assert spark([0] * 14, "Per day")["bars"] == ""
    drawn = spark([0] * 12 + [3, 6], "Per day")
    assert (drawn["now"], drawn["last"]) == ("M100.3 24V2.0", 6)

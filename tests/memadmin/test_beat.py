"""Several beats, one of which works: who holds it, who takes over, and what happens without Redis."""

import shutil
import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import redis
from celery import Celery
from django.conf import settings

from memadmin import beat
from memadmin.beat import LOOK_AGAIN, GuardedScheduler
from tests.faults.kept import Broker
from tests.stack.support import wait_for

KEY = f"{settings.KEY_PREFIX}:beat"


@pytest.fixture(scope="module")
def server():
    """A Redis of our own: the suite on SQLite has none."""
    folder = Path(tempfile.mkdtemp(prefix="memadmin-beat-"))  # short: it holds a socket
    with Broker(folder) as started:
        wait_for(started.socket.exists)
        yield started
    shutil.rmtree(folder)


class Noted(GuardedScheduler):
    """Notes what it would send."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.sent: list[str] = []
        super().__init__(*args, **kwargs)

    def apply_entry(self, entry: Any, producer: Any = None) -> None:
        self.sent.append(entry.name)


@pytest.fixture
def broker(server, settings):
    settings.REDIS_URL = server.url
    with redis.Redis.from_url(server.url) as client:
        client.flushdb()
        yield client


def scheduler() -> Noted:
    app = Celery("beats", set_as_current=False, broker="memory://")
    app.conf.beat_schedule = {"often": {"task": "tests.often", "schedule": timedelta(0)}}
    return Noted(app=app, schedule_filename="unused")


def test_one_of_two_sends_what_is_due(broker):
    first, second = scheduler(), scheduler()
    assert first.tick() == 0
    assert second.tick() == LOOK_AGAIN
    first.tick()
    assert (first.sent, second.sent) == (["often", "often"], [])


def test_it_is_held_only_for_a_while_and_renewed_by_each_tick(broker):
    first = scheduler()
    first.tick()
    broker.pexpire(KEY, 1_000)
    first.tick()
    assert broker.pttl(KEY) > 1_000


def test_another_takes_over_when_one_ends_in_order(broker):
    first, second = scheduler(), scheduler()
    first.tick()
    second.tick()
    first.close()
    second.tick()
    assert second.sent == ["often"]


def test_another_takes_over_when_one_is_killed_and_the_first_does_not_send_when_it_wakes(broker):
    first, second = scheduler(), scheduler()
    first.tick()
    broker.delete(KEY)  # its time is over
    second.tick()
    assert first.tick() == LOOK_AGAIN
    first.close()  # and gives back nothing that is another's
    second.tick()
    assert (first.sent, second.sent) == (["often"], ["often", "often"])


def test_without_redis_nothing_is_sent_and_it_goes_on_afterwards(broker, monkeypatch):
    one = scheduler()
    one.tick()

    def away(*args: Any) -> bool:
        raise redis.ConnectionError("away")

    with monkeypatch.context() as patched:
        patched.setattr(one._lock, "reacquire", away)
        patched.setattr(one._lock, "acquire", away)
        assert one.tick() == LOOK_AGAIN
    broker.delete(KEY)
    one.tick()
    assert one.sent == ["often", "often"]


def test_it_stands_by_for_less_time_than_it_is_held():
    assert beat.LOOK_AGAIN * 2 < beat.HELD_SECONDS

import pytest
from celery import Celery
from kombu.exceptions import OperationalError

from memadmin import settings as product
from memadmin.cache import ForgivingRedisCache

NOBODY = "redis://127.0.0.1:1/0"


def test_a_dead_broker_is_told_at_once_not_after_a_row_of_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    tries: list[object] = []

    def refuse(connection: object, *args: object) -> None:
        tries.append(connection)
        raise ConnectionRefusedError

    monkeypatch.setattr("kombu.utils.functional.sleep", waits.append)
    monkeypatch.setattr("redis.connection.Connection._connect", refuse)
    app = Celery("test", broker=NOBODY, set_as_current=False)
    app.conf.broker_transport_options = product.CELERY_BROKER_TRANSPORT_OPTIONS
    app.conf.task_publish_retry = product.CELERY_TASK_PUBLISH_RETRY

    with pytest.raises(OperationalError):
        app.send_task("anything")

    assert sum(waits) == 0
    assert 1 <= len(tries) <= 4


def test_a_dead_cache_is_a_cache_that_misses() -> None:
    cache = ForgivingRedisCache(NOBODY, {})

    cache.set("key", "value")

    assert cache.get("key", "default") == "default"
    assert cache.add("key", "value")
    assert cache.get_many(["key"]) == {}
    assert not cache.delete("key")

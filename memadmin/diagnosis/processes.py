"""The broker, beat and the workers."""

from collections.abc import Iterator
from typing import Any

import redis
from django.conf import settings
from kombu.exceptions import OperationalError as BrokerError

from memadmin import health
from memadmin.diagnosis.finding import Finding, error, warning

PING_SECONDS = 1.0


def broker() -> Iterator[Finding]:
    report = health.broker_report()
    if report["status"] != "ok":
        what = f"The broker does not answer ({report.get('error', 'none is set')}): decisions are stored and wait."
        yield error("broker", what, "Start it with `memadmin up`, or look at REDIS_URL.")
        return
    memory = _memory()
    if int(memory.get("maxmemory", 0)) and memory.get("maxmemory_policy") != "noeviction":
        policy = memory["maxmemory_policy"]
        what = f"When its memory is full the broker drops messages (maxmemory-policy {policy}): work waits for a sweep."
        yield warning("broker", what, "Set maxmemory-policy noeviction.")


def _memory() -> dict[str, Any]:
    """What it says about its memory; nothing where it does not tell us."""
    client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1)
    try:
        return dict(client.info("memory"))
    except (redis.RedisError, OSError):
        return {}
    finally:
        client.close()


def workers() -> Iterator[Finding]:
    """Beat sends each queue a sign every few seconds. A worker that lives and gets none has no beat."""
    silent = {queue: _heard(report) for queue, report in health.worker_report().items() if report["status"] != "ok"}
    if not silent or health.broker_report()["status"] != "ok":
        return
    listening = queues_listened_to()
    living = [queue for queue in silent if queue in listening]
    if living and len(silent) == len(health.worker_report()):
        what = f"Beat does not run: workers live, but got no sign ({silent[living[0]]}). Nothing is swept or expired."
        yield error("workers", what, "Start it: celery -A memadmin beat; `memadmin up` runs it.")
    for queue, heard in silent.items():
        if queue not in listening:
            fix = f"Start it: celery -A memadmin worker -Q {queue}; `memadmin up` runs one."
            yield error("workers", f"No worker listens on queue {queue} ({heard}).", fix)
        elif len(silent) < len(health.worker_report()):
            what = f"The worker on queue {queue} lives, but does not get round to new work ({heard})."
            yield warning("workers", what, f"Look at its log; start another one: celery -A memadmin worker -Q {queue}")


def queues_listened_to() -> set[str]:
    """Asks the workers themselves, by way of the broker."""
    from memadmin.celery import app

    try:
        answers = app.control.inspect(timeout=PING_SECONDS).active_queues() or {}
    except (BrokerError, redis.RedisError, OSError):
        return set()
    return {str(queue["name"]) for queues in answers.values() for queue in queues}


def _heard(report: dict[str, Any]) -> str:
    ago = report["seconds_ago"]
    return "never heard of" if ago is None else f"last sign {ago:,.0f} s ago"

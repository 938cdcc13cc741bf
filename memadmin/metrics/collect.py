"""What is measured. Read when somebody asks, from the database and Redis, so that any process may be asked."""

from collections.abc import Iterator
from datetime import timedelta
from math import ceil

import redis
from django.db.models import Count, Max, Min, QuerySet
from django.utils import timezone
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from banks import measures
from banks.models import Job, RetainItem, Server, Write
from memadmin import heartbeat
from reviews.models import ReviewEntry

# Writes that have ended are not counted one by one: there are as many as there were decisions, ever.
LATEST = 20_000  # rows of the log
RECENT = timedelta(minutes=15)
QUANTILES = (0.5, 0.95, 0.99)
STATES_OF_ENTRIES = ("held", "pending", "deleting")
OPEN_WRITES = (*Write.OPEN, Write.State.ATTENTION, Write.State.CHANGED)
OPEN_ITEMS = (RetainItem.State.HELD, RetainItem.State.QUEUED, RetainItem.State.SENT, RetainItem.State.ATTENTION)
OPEN_JOBS = (Job.State.QUEUED, Job.State.RUNNING)


def everything() -> Iterator[Metric]:
    yield from _entries()
    yield _by_state("memadmin_writes", "Rows of the log that have not ended.", Write.objects.all(), OPEN_WRITES)
    yield _by_state("memadmin_retain_items", "Memories on their way in.", RetainItem.objects.all(), OPEN_ITEMS)
    yield _by_state("memadmin_jobs", "Jobs that have not ended.", Job.objects.all(), OPEN_JOBS)
    yield from _latency()
    yield _heartbeats()
    yield from _servers()


def _entries() -> Iterator[Metric]:
    rows = ReviewEntry.objects.all()
    yield _by_state("memadmin_entries", "Memories that wait for a person or for the bank.", rows, STATES_OF_ENTRIES)
    oldest = rows.filter(state=ReviewEntry.State.PENDING).aggregate(at=Min("enqueued_at"))["at"]
    age = max((timezone.now() - oldest).total_seconds(), 0.0) if oldest else 0.0
    yield GaugeMetricFamily(
        "memadmin_oldest_pending_seconds", "Age of the memory that waits longest; 0 when none does.", value=age
    )


def _by_state(name: str, told: str, rows: QuerySet, states: tuple[str, ...]) -> Metric:  # type: ignore[type-arg]
    """One sample for each state, also where there is none: a graph shows 0, not a gap."""
    found = dict(rows.filter(state__in=states).order_by().values_list("state").annotate(Count("pk")))
    family = GaugeMetricFamily(name, told, labels=["state"])
    for state in states:
        family.add_metric([str(state)], found.get(str(state), 0))
    return family


def _latency() -> Iterator[Metric]:
    """From decision to effect, of what took effect lately."""
    latest = Write.objects.aggregate(pk=Max("pk"))["pk"] or 0
    ended = Write.objects.filter(pk__gt=latest - LATEST, state=Write.State.DONE, finished__gte=timezone.now() - RECENT)
    times = ended.exclude(slot="").order_by().values_list("created", "finished")
    took = sorted((finished - created).total_seconds() for created, finished in times if finished is not None)
    when = f"in the last {int(RECENT.total_seconds() // 60)} minutes"
    told = f"Seconds from a decision to its effect {when}, with those in which it can be undone."
    seconds = GaugeMetricFamily("memadmin_effect_seconds", told, labels=["quantile"])
    for share in QUANTILES if took else ():
        seconds.add_metric([str(share)], took[ceil(share * len(took)) - 1])
    yield seconds
    yield GaugeMetricFamily("memadmin_effects", f"Decisions that took effect {when}.", value=len(took))


def _heartbeats() -> Metric:
    family = GaugeMetricFamily(
        "memadmin_worker_heartbeat_seconds", "Since the last sign of life of a queue's workers.", labels=["queue"]
    )
    for queue in heartbeat.QUEUES:
        age = heartbeat.age(queue)
        family.add_metric([queue], float("inf") if age is None else age)
    return family


def _servers() -> Iterator[Metric]:
    servers = {server.pk: server for server in Server.objects.all()}
    up = GaugeMetricFamily("memadmin_server_up", "1 when the server answered last time.", labels=["server"])
    paused = GaugeMetricFamily("memadmin_server_writes_paused", "1 while nothing is sent to it.", labels=["server"])
    for server in servers.values():
        up.add_metric([server.name], float(server.health == Server.Health.OK))
        paused.add_metric([server.name], float(server.writes_paused))
    yield from (up, paused)
    seconds = HistogramMetricFamily("memadmin_upstream_seconds", "How long servers take to answer.", labels=["server"])
    outcomes = CounterMetricFamily("memadmin_upstream", "Answers of servers.", labels=["server", "outcome"])
    try:
        for found in measures.answers(list(servers)):
            name = servers[found.server].name
            bounds = [*map(str, measures.BOUNDS), "+Inf"]
            counts = [*found.buckets, found.count]
            seconds.add_metric([name], buckets=list(zip(bounds, counts, strict=True)), sum_value=found.seconds)
            for outcome, number in sorted(found.outcomes.items()):
                outcomes.add_metric([name, outcome], number)
    except redis.RedisError:
        return  # not measured is not zero
    yield from (seconds, outcomes)

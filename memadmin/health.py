"""`/healthz`: this process answers. `/readyz`: the product can work; the database decides, the rest is reported."""

from typing import Any

import redis
from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from banks.models import Server
from memadmin import heartbeat

Report = dict[str, Any]


@login_not_required
@never_cache
@require_safe
def healthz(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"status": "ok"})


@login_not_required
@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """200 when the database answers and is migrated, else 503. No addresses, no keys, no names of banks."""
    database = database_report()
    ready = database["status"] == "ok"
    body: Report = {"status": "ready" if ready else "not ready", "database": database, "broker": broker_report()}
    if ready:
        body["workers"] = worker_report()
        body["servers"] = server_report()
    return JsonResponse(body, status=200 if ready else 503)


def database_report() -> Report:
    try:
        executor = MigrationExecutor(connection)
        waiting = len(executor.migration_plan(executor.loader.graph.leaf_nodes()))
    except DatabaseError as error:
        return {"status": "unreachable", "error": type(error).__name__}
    if waiting:
        return {"status": "not migrated", "migrations_waiting": waiting}
    return {"status": "ok"}


def broker_report() -> Report:
    if not settings.REDIS_URL:
        return {"status": "none"}
    client = redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1)
    try:
        client.ping()
    except (redis.RedisError, OSError) as error:
        return {"status": "unreachable", "error": type(error).__name__}
    finally:
        client.close()
    return {"status": "ok"}


def worker_report() -> Report:
    """Per queue: ok, late, or silent when nothing was heard since the broker's last day."""
    report: Report = {}
    for queue in heartbeat.QUEUES:
        age = heartbeat.age(queue)
        status = "silent" if age is None else "ok" if age < heartbeat.LATE_AFTER else "late"
        report[queue] = {"status": status, "seconds_ago": None if age is None else round(age, 1)}
    return report


def server_report() -> list[Report]:
    """As the workers last saw them: a health probe never waits for a memory server."""
    return [
        {
            "id": server.pk,
            "status": server.health,
            "demo": server.is_demo,
            "writes_paused": server.writes_paused,
            "last_checked": server.last_checked,
        }
        for server in Server.objects.all()
    ]

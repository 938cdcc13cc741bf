"""`memadmin check`: what is wrong, why, and what to do about it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from django.core import checks as django_checks
from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError

from banks.models import Server, Write
from banks.services.probe import probe
from memadmin import bootstrap, health

Health = Server.Health


@dataclass(frozen=True)
class Finding:
    area: str  # settings, database, broker, workers, servers, environment, writes
    level: str  # "error": something does not work; "warning": something should be looked at
    what: str
    fix: str


def diagnose() -> list[Finding]:
    """Asks everything once, the memory servers too. Without a database the rest cannot be told."""
    findings = [*_settings(), *_database()]
    if any(finding.area == "database" and finding.level == "error" for finding in findings):
        return [*findings, *_broker()]
    rest: list[Callable[[], Iterator[Finding]]] = [_broker, _workers, _environment, _servers, _writes]
    return [*findings, *(finding for look in rest for finding in look())]


def _settings() -> Iterator[Finding]:
    for message in django_checks.run_checks(include_deployment_checks=False):
        level = "error" if message.level >= django_checks.ERROR else "warning"
        yield Finding("settings", level, str(message.msg), message.hint or "")


def _database() -> Iterator[Finding]:
    from memadmin.checks import sqlite_is_safe

    report = health.database_report()
    if report["status"] == "unreachable":
        yield Finding(
            "database", "error", f"The database does not answer ({report['error']}).", "Start it; look at DATABASE_URL."
        )
    elif report["status"] == "not migrated":
        number = report["migrations_waiting"]
        yield Finding("database", "error", f"{number} migrations are not applied.", "memadmin prepare")
    for message in sqlite_is_safe():
        yield Finding("database", "warning", str(message.msg), message.hint or "")


def _broker() -> Iterator[Finding]:
    report = health.broker_report()
    if report["status"] != "ok":
        yield Finding(
            "broker",
            "error",
            f"The broker does not answer ({report.get('error', 'none is set')}): decisions are stored and wait.",
            "Start it with `memadmin up`, or look at REDIS_URL.",
        )


def _workers() -> Iterator[Finding]:
    for queue, report in health.worker_report().items():
        if report["status"] == "ok":
            continue
        heard = "never" if report["seconds_ago"] is None else f"{report['seconds_ago']:.0f} s ago"
        yield Finding(
            "workers",
            "error",
            f"Nothing is heard of the worker on queue {queue} (last sign: {heard}).",
            f"Start beat and a worker: celery -A memadmin worker -Q {queue}; `memadmin up` runs both.",
        )


def _environment() -> Iterator[Finding]:
    try:
        yield from (Finding("environment", "warning", each.what, each.fix) for each in bootstrap.differences())
    except ImproperlyConfigured as error:
        yield Finding("environment", "error", str(error), "Set HINDSIGHT_BASE_URL to http(s)://host:port.")


FIXES = {
    Health.UNREACHABLE: "Start it, or look at its address and at what lies between.",
    Health.REFUSED: "Set HINDSIGHT_API_KEY to the right key, then: memadmin adopt-environment",
    Health.DEGRADED: "Look at the server's own log.",
}


def _servers() -> Iterator[Finding]:
    servers = list(Server.objects.all())
    if not servers:
        yield Finding(
            "servers", "error", "No Hindsight server is registered.", "Set HINDSIGHT_BASE_URL: memadmin prepare"
        )
    for server in servers:
        told = probe(server)
        if told.health != Health.OK:
            level = "warning" if told.health == Health.DEGRADED else "error"
            yield Finding("servers", level, f"{server}: {told.text or told.health.label}", FIXES.get(told.health, ""))
        if server.writes_paused:
            yield Finding(
                "servers", "warning", f"{server}: writes are paused.", "Decisions wait until they are resumed."
            )


def _writes() -> Iterator[Finding]:
    try:
        waiting = Write.objects.filter(state__in=[Write.State.ATTENTION, Write.State.CHANGED]).count()
    except DatabaseError:
        return
    if waiting:
        yield Finding("writes", "warning", f"{waiting} writes need a person.", "See /log/?state=attention")

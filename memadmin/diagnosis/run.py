from collections.abc import Callable, Iterator

from django.db import DatabaseError

from memadmin.diagnosis import database, files, processes, servers, work
from memadmin.diagnosis.finding import Finding, error

Look = Callable[[], Iterator[Finding]]

WITHOUT_DATABASE: list[Look] = [files.settings_are_sound, files.data_folder, processes.broker]
WITH_DATABASE: list[Look] = [
    database.connections,
    processes.workers,
    servers.environment,
    servers.keys,
    servers.answers,
    servers.banks,
    work.writes,
    work.loads,
    work.jobs,
    work.parked,
    work.queue_file,
]


def diagnose() -> list[Finding]:
    """Asks everything once, the memory servers too. Without a database the rest cannot be told."""
    findings = [finding for look in WITHOUT_DATABASE for finding in look()]
    found = list(database.state())
    if not any(finding.level == "error" for finding in found):
        found += [finding for look in WITH_DATABASE for finding in _asked(look)]
    return findings + found


def _asked(look: Look) -> Iterator[Finding]:
    try:
        yield from look()
    except DatabaseError as problem:
        name = look.__name__.replace("_", " ")
        yield error("database", f"The database does not say how it is about {name} ({problem}).", "Ask once more.")

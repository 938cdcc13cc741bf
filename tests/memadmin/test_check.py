"""`memadmin check`: what it prints, for people and programs, and how it ends."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import DatabaseError

from banks.models import Server
from banks.services.probe import Told
from memadmin.diagnosis import database, diagnose, files, processes, run, servers
from tests import factories
from tests.memadmin.checked import FINE, telling


def check(*arguments: str) -> tuple[str, int]:
    """(what was printed, exit code)."""
    out = StringIO()
    try:
        call_command("diagnose", *arguments, stdout=out)
    except SystemExit as ended:
        return out.getvalue(), int(ended.code or 0)
    return out.getvalue(), 0


@pytest.fixture
def all_well(db: None, monkeypatch: pytest.MonkeyPatch) -> Server:
    monkeypatch.setattr(files.checks, "run_checks", lambda **options: [])
    monkeypatch.setattr(database, "sqlite_is_safe", list)
    monkeypatch.setattr(processes.health, "broker_report", lambda: {"status": "ok"})
    monkeypatch.setattr(processes, "_memory", dict)
    monkeypatch.setattr(processes.health, "worker_report", dict)
    monkeypatch.setattr(servers, "probe", telling(FINE))
    return factories.make_server(name="Main")


def test_without_a_problem_it_says_so(all_well: Server) -> None:
    assert check() == ("No problems found.\n", 0)
    told, code = check("--json", "--strict")
    assert (json.loads(told), code) == ({"findings": [], "errors": 0, "warnings": 0}, 0)


def test_each_problem_has_its_cause_and_what_to_do(all_well: Server, settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    monkeypatch.setattr(
        servers, "probe", telling(Told(Server.Health.REFUSED, "The server refuses our key (HTTP 401)."))
    )
    printed, code = check()
    assert code == 1
    assert (
        "error: broker: The broker does not answer (ConnectionError): decisions are stored and wait.\n    Start"
        in printed
    )
    assert "error: servers: Main: The server refuses our key (HTTP 401).\n    Give it the right key" in printed


def test_a_warning_is_no_failure_unless_it_is_meant_to_be(all_well: Server) -> None:
    Server.objects.update(writes_paused=True)
    printed, code = check()
    assert (code, printed.splitlines()[0]) == (0, "warning: servers: Main: writes are paused.")
    assert check("--strict")[1] == 1
    told, code = check("--json")
    assert json.loads(told) == {
        "findings": [
            {
                "area": "servers",
                "level": "warning",
                "what": "Main: writes are paused.",
                "fix": "Decisions wait until they are resumed.",
            }
        ],
        "errors": 0,
        "warnings": 1,
    }


def test_what_others_wrote_does_not_steer_the_terminal(all_well: Server) -> None:
    Server.objects.update(name="Main\x1b[2J\n", writes_paused=True)
    printed, _ = check()
    assert "\x1b" not in printed
    assert "Main" in printed.splitlines()[0]
    assert "writes are paused" in printed.splitlines()[0]


def test_a_part_that_cannot_be_asked_stops_no_other(all_well: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def parked() -> list[object]:
        raise DatabaseError("disk I/O error")

    monkeypatch.setattr(run, "WITH_DATABASE", [parked, *run.WITH_DATABASE])
    Server.objects.update(writes_paused=True)
    assert [finding.what for finding in diagnose()] == [
        "The database does not say how it is about parked (disk I/O error).",
        "Main: writes are paused.",
    ]


def test_without_a_database_the_rest_is_still_asked(all_well: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database.health, "database_report", lambda: {"status": "not migrated", "migrations_waiting": 1})
    monkeypatch.setattr(processes.health, "broker_report", lambda: {"status": "unreachable", "error": "Timeout"})
    assert [(finding.area, finding.level) for finding in diagnose()] == [("broker", "error"), ("database", "error")]

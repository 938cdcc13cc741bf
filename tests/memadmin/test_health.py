import pytest
from django.db import DatabaseError
from django.test import Client

from memadmin import heartbeat, tasks
from tests import factories


def test_the_process_answers_without_the_database(client: Client) -> None:
    answer = client.get("/healthz")

    assert answer.status_code == 200
    assert answer.json() == {"status": "ok"}


def test_ready_when_the_database_is(client: Client, db: None) -> None:
    tasks.sign_of_life("door")
    factories.make_server(health="unreachable", api_key="hush")

    answer = client.get("/readyz")

    assert answer.status_code == 200
    body = answer.json()
    assert body["status"] == "ready"
    assert body["workers"]["door"]["status"] == "ok"
    assert body["workers"]["load"] == {"status": "silent", "seconds_ago": None}
    assert body["servers"][0]["status"] == "unreachable"
    assert "hush" not in answer.content.decode()
    assert "hindsight" not in answer.content.decode()


def test_a_worker_that_was_not_heard_for_a_while_is_late(
    client: Client, db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeat, "age", lambda queue: heartbeat.LATE_AFTER + 1)

    answer = client.get("/readyz")

    assert answer.status_code == 200
    assert answer.json()["workers"]["load"]["status"] == "late"


def test_a_broker_that_does_not_answer_is_reported_beside(client: Client, db: None, settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"

    answer = client.get("/readyz")

    assert answer.status_code == 200
    assert answer.json()["broker"] == {"status": "unreachable", "error": "ConnectionError"}


def test_not_ready_without_the_database(client: Client, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*args: object) -> None:
        raise DatabaseError("password authentication failed for user secret")

    monkeypatch.setattr("memadmin.health.MigrationExecutor", fails)

    answer = client.get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["database"] == {"status": "unreachable", "error": "DatabaseError"}
    assert "secret" not in answer.content.decode()


def test_not_ready_before_it_is_migrated(client: Client, db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    class Waiting:
        loader = type("Loader", (), {"graph": type("Graph", (), {"leaf_nodes": staticmethod(list)})})

        def __init__(self, connection: object) -> None: ...

        def migration_plan(self, targets: object) -> list[str]:
            return ["banks.0002"]

    monkeypatch.setattr("memadmin.health.MigrationExecutor", Waiting)

    answer = client.get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["database"] == {"status": "not migrated", "migrations_waiting": 1}

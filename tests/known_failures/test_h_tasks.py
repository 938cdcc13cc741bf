"""Messages are lost, doubled and late; the rows are what counts."""

import ast
import inspect
import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
import time_machine
from celery.app.task import Task
from django.conf import LazySettings, settings
from django.db import transaction
from django.utils import timezone

from banks import connections, writes
from banks.demo import DemoServer, DemoTransport, Pace
from banks.models import Bank, Blob, RecallCheck, Write
from banks.recall.asked import Asked
from banks.writes import worker
from memadmin.celery import app
from reviews.importing.job import start_import
from reviews.services import decide, expiry
from tests import factories
from tests.banks.conftest import LyingTransport, later
from tests.conftest import People
from tests.known_failures.source import calls, product_trees
from tests.known_failures.world import everything, in_bank, loaded, waiting, work_off
from tests.reviews.pages import shown
from tests.reviews.queue_files import add, as_bytes

app.loader.import_default_modules()
TASKS = sorted(name for name in app.tasks if not name.startswith("celery."))
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """Every message to the broker: (task, arguments, options). Nobody takes them."""
    messages: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []

    def send(self: Task, args: Any = (), kwargs: Any = None, **options: Any) -> None:
        assert not kwargs
        messages.append((self.name, tuple(args), options))

    monkeypatch.setattr(Task, "apply_async", send)
    return messages


def put_back(bank: Bank, document_id: str = "a") -> Write:
    """A write that is sent at once."""
    with transaction.atomic():
        text = Blob.objects.store("Ann keeps the ledger.")
        return writes.record(kind="put-back", bank=bank, via=Write.Via.WEB, document_id=document_id, request=text)


def test_row_075_no_message_waits_longer_than_a_few_seconds(bank: Bank, told: list[Any]) -> None:
    """A retain that runs for hours is looked at by the sweep: long waits are on the row, never in the broker."""
    connections.TRANSPORTS[bank.server.base_url] = DemoTransport(DemoServer(None, pace=Pace(work=6 * 3600.0)))
    try:
        with connections.client_for(bank.server) as client:
            client.put_bank(bank.bank_id)
        write = put_back(bank)
        with time_machine.travel(timezone.now(), tick=False) as clock:
            for _ in range(60):
                worker.run(write.pk)
                write.refresh_from_db()
                clock.move_to(write.not_before + later(1), tick=False)
    finally:
        del connections.TRANSPORTS[bank.server.base_url]
    assert write.state == Write.State.ACCEPTED
    waits = [options.get("countdown", 0) for _, _, options in told]
    assert len(waits) > 3
    assert max(waits) <= 5


def test_row_075_nothing_else_in_the_source_asks_the_broker_to_wait() -> None:
    waiting_words = {"eta", "countdown", "retry_backoff", "default_retry_delay", "autoretry_for"}
    found = {
        (path, word.arg)
        for path, tree in product_trees()
        for call in calls(tree)
        for word in call.keywords
        if word.arg in waiting_words
    }
    assert found == {("banks/writes/dispatch.py", "countdown")}
    # A task that still runs is not handed to a second worker.
    assert settings.CELERY_BROKER_TRANSPORT_OPTIONS["visibility_timeout"] > settings.CELERY_TASK_TIME_LIMIT


@pytest.fixture
def arguments(
    bank: Bank, people: People, line: LyingTransport, settings: LazySettings, tmp_path: Path
) -> Iterator[dict[str, Any]]:
    """Something to do for every task, by the names of its parameters; the clock stands still."""
    entry = loaded(bank, "notes/b.md")
    write = decide.delete(user=people.reviewer, entry_id=entry.pk, **shown(entry))  # type: ignore[arg-type]
    unread = waiting(bank, "notes/a.md")
    old = factories.make_entry(bank, "old", first_imported_at=timezone.now() - timedelta(days=30))
    expiry.set_expiry(old, age_from=timezone.now() - timedelta(days=30))
    old.save()
    settings.MEDIA_ROOT = tmp_path
    lines = as_bytes([add("new", bank=bank.bank_id, baseUrl=bank.server.base_url), "torn"])
    job = start_import(owner=people.owner, machine="laptop", chunks=[lines], here=True)
    asked = Asked("Who keeps the ledger?").as_json
    check = RecallCheck.objects.create(bank=bank, name="Ledger", asked=asked, made_by="Mira")
    with time_machine.travel(write.not_before + later(30), tick=False):
        line.calls.clear()
        yield {
            "write_id": write.pk,
            "entry_id": unread.pk,
            "job_id": job.pk,
            "check_id": check.pk,
            "bank_id": bank.pk,
            "server_id": bank.server.pk,
            "queue": "door",
        }


@pytest.mark.parametrize("name", TASKS)
def test_row_076_a_task_that_is_delivered_twice_does_its_work_once(
    name: str, arguments: dict[str, Any], line: LyingTransport, told: list[Any]
) -> None:
    task = app.tasks[name]
    wanted = [arguments[parameter] for parameter in inspect.signature(task.run).parameters]
    task.run(*wanted)
    after_one, sent = everything(), [call for call in line.calls if call[0] != "GET"]
    task.run(*wanted)
    assert everything() == after_one
    assert [call for call in line.calls if call[0] != "GET"] == sent
    if name == "banks.tasks.send_write":
        assert [method for method, _ in sent] == ["DELETE"]


@pytest.mark.parametrize("name", TASKS)
def test_row_081_arguments_are_numbers_and_words(name: str, arguments: dict[str, Any], told: list[Any]) -> None:
    signature = inspect.signature(app.tasks[name].run, eval_str=True)
    assert {parameter.annotation for parameter in signature.parameters.values()} <= {int, str}
    app.tasks[name].run(*[arguments[parameter] for parameter in signature.parameters])
    assert [json.loads(json.dumps(args)) for _, args, _ in told] == [list(args) for _, args, _ in told]


def test_row_081_json_is_all_that_is_written_and_read() -> None:
    assert app.conf.task_serializer == "json"
    assert list(app.conf.accept_content) == ["json"]
    for entry in settings.CELERY_BEAT_SCHEDULE.values():
        assert json.loads(json.dumps(entry.get("args", []))) == entry.get("args", [])
        assert entry["task"] in TASKS


class Killed(BaseException):
    """What a worker sees of its own death."""


class Dying(httpx.BaseTransport):
    """The worker dies at its first retain: before the request has left, or after the server has done it."""

    def __init__(self, line: LyingTransport, *, after: bool) -> None:
        self.line, self.after, self.dead = line, after, False
        self.operations: list[str] = []

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.method != "POST":
            return self.line.handle_request(request)
        self.operations.append(json.loads(request.read())["operation_id"])
        fatal, self.dead = not self.dead, True
        response = self.line.handle_request(request) if self.after or not fatal else None
        if fatal:
            raise Killed
        assert response is not None
        return response


@pytest.mark.parametrize("after", [True, False])
def test_row_077_a_retain_whose_worker_was_killed_is_taken_up_under_the_same_operation_id(
    bank: Bank, line: LyingTransport, told: list[Any], after: bool
) -> None:
    transport = connections.TRANSPORTS[bank.server.base_url] = Dying(line, after=after)
    write = put_back(bank)
    told.clear()
    with pytest.raises(Killed):
        worker.run(write.pk)
    write.refresh_from_db()
    assert write.state == Write.State.SENDING
    assert write.claimed_until is not None
    assert worker.sweep() == 0  # perhaps it still lives
    with time_machine.travel(write.claimed_until + later(60), tick=False):
        assert worker.sweep() == 1
        assert told == [("banks.tasks.send_write", (write.pk,), {"countdown": 0.0})]
        work_off()
    write.refresh_from_db()
    assert write.state == Write.State.DONE
    assert transport.operations == [str(write.operation_id)] * (1 if after else 2)
    assert in_bank(bank, "a") == "Ann keeps the ledger."


def test_row_080_nobody_asks_for_the_result_of_a_task() -> None:
    assert app.conf.task_ignore_result is True
    assert app.conf.result_backend is None
    for path, tree in product_trees():
        names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        names |= {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
        assert not names & {"AsyncResult", "GroupResult", "delay_on_commit", "apply_async_on_commit"}, path

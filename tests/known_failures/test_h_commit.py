"""A message leaves after the commit and never without it, and a bad day of the server is no bad page."""

import ast
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from django.db import connection, connections
from django.test import Client

from banks import connections as servers
from banks import tasks
from banks.models import Bank, Write
from reviews.models import Decision
from reviews.views import edit
from tests.banks.conftest import LyingTransport
from tests.conftest import People
from tests.known_failures.source import calls, product_trees
from tests.known_failures.world import in_bank, loaded
from tests.reviews.pages import shown

pytestmark = pytest.mark.django_db(transaction=True)
# Who may hand a message to the broker: the two that do it after the commit, what runs in workers already, and the task
# that gives its message the id of a request along.
SENDERS = {
    "memadmin/tracing.py",
    *("banks/writes/dispatch.py", "banks/jobs.py", "banks/recall/checks.py"),
    *("banks/tasks.py", "reviews/tasks.py", "memadmin/tasks.py"),
}


@pytest.fixture(params=[False, True], ids=["plain", "atomic requests"])
def atomic(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", request.param)
    return bool(request.param)


def save(client: Client, entry: Any, text: str) -> Any:
    return client.post(f"/reviews/{entry.pk}/edit/", {**shown(entry), "text": text})


def test_row_079_the_worker_is_told_after_the_commit(
    bank: Bank, people: People, line: LyingTransport, as_user: Any, atomic: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[bool, bool]] = []

    def tell(args: tuple[int], countdown: float = 0) -> None:
        told.append((connection.in_atomic_block, Write.objects.filter(pk=args[0]).exists()))

    monkeypatch.setattr(tasks.send_write, "apply_async", tell)
    entry = loaded(bank, "b")
    assert save(as_user(people.reviewer), entry, "Other words.").status_code == 303
    assert told == [(False, True)]


def test_row_079_what_is_rolled_back_is_told_to_nobody(
    bank: Bank, people: People, line: LyingTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole request in one transaction, and the view fails after the decision."""
    told: list[object] = []
    monkeypatch.setitem(connections.settings["default"], "ATOMIC_REQUESTS", True)
    monkeypatch.setattr(tasks.send_write, "apply_async", lambda *args, **options: told.append(args))

    def fails(*arguments: object, **values: object) -> None:
        raise RuntimeError("after the decision")

    monkeypatch.setattr(edit, "show_next", fails)
    entry = loaded(bank, "b")
    client = Client(raise_request_exception=False)
    client.force_login(people.reviewer)
    assert save(client, entry, "Other words.").status_code == 500
    assert (told, Write.objects.count(), Decision.objects.count()) == ([], 0, 0)


def test_row_079_views_and_services_leave_the_broker_to_the_door() -> None:
    sending = {
        path
        for path, tree in product_trees()
        for call in calls(tree)
        if isinstance(call.func, ast.Attribute) and call.func.attr in {"delay", "apply_async", "send_task"}
    }
    assert sending - {path for path in sending if path.startswith("memadmin/up/")} <= SENDERS


@pytest.fixture
def eager() -> Iterator[None]:
    """Tasks run inside the request, and what they raise comes out of it."""
    conf = tasks.send_write.app.conf
    conf.update(task_always_eager=True, task_eager_propagates=True)
    yield
    conf.update(task_always_eager=False, task_eager_propagates=False)


@pytest.mark.parametrize("status", [500, 503, 429])
def test_row_082_a_failing_server_is_a_row_that_retries_and_not_a_failed_page(
    bank: Bank, people: People, line: LyingTransport, as_user: Any, eager: None, status: int
) -> None:
    entry = loaded(bank, "b")
    answer = httpx.Response(status, json={"detail": "later"})
    servers.TRANSPORTS[bank.server.base_url] = httpx.MockTransport(lambda request: answer)
    assert save(as_user(people.reviewer), entry, "Other words.").status_code == 303
    write = Write.objects.get()
    assert (write.state, write.attempts, write.error_status) == (Write.State.RETRYING, 1, status)


def test_row_082_eager_and_all_well_it_is_sent(
    bank: Bank, people: People, line: LyingTransport, as_user: Any, eager: None
) -> None:
    entry = loaded(bank, "b")
    assert save(as_user(people.reviewer), entry, "Other words.").status_code == 303
    assert Write.objects.get().state in {Write.State.ACCEPTED, Write.State.DONE}
    assert in_bank(bank, "b") == "Other words."

"""The demo server's own promises: a clock instead of threads, a file that keeps everything, an answer to anything."""

import json
import threading
import uuid
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from banks.demo import DemoServer, DemoTransport, Pace
from banks.hindsight import HindsightClient, NotFound, RetainItem

START = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)


class Clock:
    def __init__(self):
        self.now = START

    def __call__(self):
        return self.now

    def forward(self, **span):
        self.now += timedelta(**span)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def server(clock):
    return DemoServer(clock=clock, pace=Pace(pickup=1, work=2, backoff=60))


@pytest.fixture
def client(server):
    return HindsightClient("http://demo", transport=DemoTransport(server))


def _submit(client, text="Alice works at Acme.", document_id="d"):
    return client.retain("bank", [RetainItem(text, document_id)], operation_id=uuid.uuid4()).operation_id


def test_work_goes_on_with_the_clock(client, clock):
    operation_id = _submit(client)
    assert client.get_operation("bank", operation_id).status == "pending"
    clock.forward(seconds=1)
    (child,) = client.get_operation("bank", operation_id).children
    assert child.status == "processing"
    assert client.find_document("bank", "d") is None
    clock.forward(seconds=2)
    done = client.get_operation("bank", operation_id)
    assert (done.status, done.completed_at) == ("completed", START + timedelta(seconds=3))
    assert client.get_document("bank", "d").created_at == START + timedelta(seconds=3)


def test_what_was_due_long_ago_happened_then(client, clock):
    _submit(client)
    clock.forward(days=2)
    assert client.get_document("bank", "d").created_at == START + timedelta(seconds=3)


def test_a_marker_makes_it_slow(client, clock):
    operation_id = _submit(client, "[[SLOW:10]] Alice waits.")
    clock.forward(seconds=12)
    assert client.get_operation("bank", operation_id).children[0].status == "processing"
    clock.forward(seconds=1)
    assert client.get_operation("bank", operation_id).status == "completed"


def test_failing_takes_three_more_attempts(client, clock):
    operation_id = _submit(client, "[[FAIL]] Alice fails.")
    seen = []
    for _ in range(4):
        clock.forward(seconds=3)
        (child,) = client.list_operations("bank").items
        seen.append((child.status, child.retry_count))
        clock.forward(seconds=60)
    assert seen == [("retrying", 1), ("retrying", 2), ("retrying", 3), ("failed", 3)]
    assert client.get_operation("bank", operation_id).failed


def test_a_failed_retain_that_is_retried_can_succeed(client, clock, server):
    operation_id = _submit(client, "[[FAILN:4:once]] Alice comes late.")
    server.settle()
    assert client.get_operation("bank", operation_id).status == "failed"
    client.retry_operation("bank", operation_id)
    clock.forward(hours=1)
    assert client.get_operation("bank", operation_id).status == "completed"
    assert client.get_document("bank", "d").fact_count == 1


def test_cancelling_pending_work_prevents_it_and_cancelling_running_work_does_not(client, clock):
    pending, running = _submit(client, document_id="pending"), _submit(client, document_id="running")
    child = client.get_operation("bank", pending).children[0]
    client.cancel_operation("bank", child.id)
    assert client.get_operation("bank", pending).status == "cancelled"
    clock.forward(seconds=1)
    client.cancel_operation("bank", client.get_operation("bank", running).children[0].id)
    clock.forward(hours=1)
    assert client.find_document("bank", "pending") is None
    assert client.find_document("bank", "running") is not None
    assert client.get_operation("bank", running).children[0].status == "cancelled"


def test_at_once_with_a_clock_that_stands_still(clock):
    client = HindsightClient("http://demo", transport=DemoTransport(DemoServer(clock=clock, pace=Pace.instant())))
    assert client.get_operation("bank", _submit(client)).status == "completed"
    assert client.get_operation("bank", _submit(client, "[[FAIL]]", "e")).status == "failed"


def test_everything_survives_a_restart_even_work_that_was_waiting(tmp_path, clock):
    file = tmp_path / "state" / "demo.sqlite3"
    first = DemoServer(file, clock=clock, pace=Pace(pickup=1, work=2))
    client = HindsightClient("http://demo", transport=DemoTransport(first))
    _submit(client, "Alice works at Acme. Bob sleeps.")
    first.settle()
    fact = client.list_facts("bank").items[0]
    client.patch_fact("bank", fact.id, state="invalidated", reason="gone")
    waiting = _submit(client, document_id="e")
    first.close()

    second = DemoServer(file, clock=clock)
    client = HindsightClient("http://demo", transport=DemoTransport(second))
    assert client.get_fact("bank", fact.id).invalidation_reason == "gone"
    assert client.get_operation("bank", waiting).status == "pending"
    clock.forward(minutes=1)
    assert client.get_operation("bank", waiting).status == "completed"
    second.close()


def test_two_threads_at_a_time_lose_nothing(tmp_path):
    server = DemoServer(tmp_path / "demo.sqlite3", pace=Pace.instant())
    clients = [HindsightClient("http://demo", transport=DemoTransport(server)) for _ in range(4)]

    def work(number):
        for step in range(10):
            _submit(clients[number], f"Item {step} is here.", f"{number}-{step}")

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert clients[0].list_documents("bank").total == 40
    server.close()


def test_a_refused_request_changes_nothing(client, server):
    with pytest.raises(NotFound):
        client.delete_document("bank", "nothing")
    body = json.dumps({"items": [{"content": "Good.", "document_id": "g"}, {"content": " "}]}).encode()
    status, _, _ = server.handle("POST", "/v1/default/banks/bank/memories", {}, body)
    assert status == 422
    assert client.list_banks() == []


def test_only_samples_are_marked_as_filled_once(server):
    assert not server.is_filled
    server.mark_filled()
    assert server.is_filled


values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
items = st.fixed_dictionaries(
    {},
    optional={"content": values | st.just("Alice works."), "document_id": values, "timestamp": values, "tags": values}
    | {"metadata": values, "entities": values, "update_mode": values, "observation_scopes": values, "context": values},
)
bodies = st.fixed_dictionaries(
    {},
    optional={"items": st.lists(items, max_size=3) | values, "async": values, "text": values}
    | {"state": values, "reason": values, "tags": values, "operation_id": values, "name": values},
)
paths = st.sampled_from(
    [
        "memories",
        "memories/list",
        "memories/x",
        "documents",
        "documents/d",
        "documents/%2e",
        "operations",
        "operations/x",
        "operations/x/retry",
        "stats",
    ]
)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(["GET", "POST", "PUT", "PATCH", "DELETE", "BREW"]), paths, bodies | values)
def test_anything_gets_an_answer_in_json(method, path, body):
    server = DemoServer(pace=Pace.instant())
    for target in (f"/v1/default/banks/b/{path}", f"/v1/default/banks/b%00/{path}?limit=x&q=%ff", "/", "*", ""):
        status, headers, raw = server.handle(method, target, {}, json.dumps(body).encode())
        assert 200 <= status < 500 or "\\u0000" in json.dumps(body) or "%00" in target, (status, raw)
        assert json.loads(raw) is not None
        assert headers["content-length"] == str(len(raw))
    server.close()


@settings(max_examples=200, deadline=None)
@given(st.lists(items.map(lambda item: {"content": "Alice works."} | item), min_size=1, max_size=2), st.booleans())
def test_whatever_a_retain_holds_is_taken_or_refused(given_items, background):
    server = DemoServer(pace=Pace.instant())
    body = json.dumps({"items": given_items, "async": background}).encode()
    status, _, raw = server.handle("POST", "/v1/default/banks/b/memories", {}, body)
    assert status in {200, 400, 422}, raw
    assert server.handle("GET", "/v1/default/banks", {})[0] == 200
    for name in ("documents", "memories/list", "operations", "stats"):
        assert server.handle("GET", f"/v1/default/banks/b/{name}", {})[0] == (200 if status == 200 else 404)
    server.close()


@settings(max_examples=100, deadline=None)
@given(
    st.fixed_dictionaries(
        {}, optional=dict.fromkeys(["text", "state", "reason", "occurred_start", "fact_type"], values)
    )
)
def test_whatever_a_change_of_a_fact_holds_is_taken_or_refused(change):
    server = DemoServer(pace=Pace.instant())
    client = HindsightClient("http://demo", transport=DemoTransport(server))
    _submit(client)
    (fact,) = client.list_facts("bank").items
    target = f"/v1/default/banks/bank/memories/{fact.id}"
    status, _, raw = server.handle("PATCH", target, {}, json.dumps(change).encode())
    assert status in {200, 400, 422} or "\0" in str(change.get("text")), raw
    server.close()

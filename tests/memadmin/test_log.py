"""Log lines: one id from the request to what a worker does for it, and nothing of what people wrote."""

import json
import logging

import pytest
from celery import Celery
from celery.contrib.testing.worker import start_worker
from structlog.contextvars import bound_contextvars

from memadmin.log import formatter
from memadmin.tracing import TracedTask
from tests import factories


@pytest.fixture
def lines():
    """What a handler with one of our formatters writes; the format is given."""
    handlers = []

    def start(kind: str) -> list[str]:
        found: list[str] = []
        handler = logging.Handler()
        handler.setFormatter(formatter(kind))
        handler.emit = lambda record: found.append(handler.format(record))  # type: ignore[method-assign]
        logging.getLogger("memadmin").addHandler(handler)
        handlers.append(handler)
        return found

    yield start
    for handler in handlers:
        logging.getLogger("memadmin").removeHandler(handler)


@pytest.fixture
def told(caplog):
    for name in ("memadmin.requests", "memadmin.tasks"):
        caplog.set_level(logging.INFO, logger=name)


def test_a_line_for_people_says_which_request_it_is_about(lines, told):
    found = lines("line")
    with bound_contextvars(request="ab12-cd34"):
        logging.getLogger("memadmin.tests").warning("the broker is away")
    (line,) = found
    assert line.endswith("WARNING memadmin.tests: the broker is away [request ab12-cd34]")


def test_a_line_for_programs_is_one_object_with_its_traceback_in_it(lines, told):
    found = lines("json")
    try:
        raise ValueError("two\nlines")
    except ValueError:
        logging.getLogger("memadmin.tests").exception("it failed")
    (line,) = found
    said = json.loads(line)
    assert "\n" not in line
    assert (said["event"], said["level"], said["logger"]) == ("it failed", "error", "memadmin.tests")
    assert "ValueError: two" in said["exception"]


def test_a_request_is_one_line_with_its_route_and_without_what_was_looked_for(client, people, lines, told):
    found = lines("json")
    client.force_login(people.reviewer)
    answer = client.get("/reviews/", {"q": "what nobody else should read"})
    said = next(line for line in map(json.loads, found) if line["logger"] == "memadmin.requests")
    assert (said["route"], said["status"]) == ("reviews:entry-list", answer.status_code)
    assert said["took_ms"] >= 0
    assert len(said["request"]) == 9
    assert "nobody else" not in "".join(found)


@pytest.fixture
def app():
    app = Celery("tests", task_cls=TracedTask, set_as_current=False, broker="memory://", backend="cache+memory://")

    @app.task(name="tests.look", shared=False)
    def look(number: int, text: dict[str, str]) -> str:
        logging.getLogger("memadmin.tests").warning("looked")
        return "done"

    with start_worker(app, pool="solo", perform_ping_check=False):
        yield app


def ours(found):
    """The lines of the task, and of what it logs itself."""
    return [line for line in map(json.loads, found) if line["logger"] in {"memadmin.tests", "memadmin.tasks"}]


def test_a_worker_goes_on_under_the_id_of_the_request_and_says_ids_alone(app, lines, told):
    found = lines("json")
    with bound_contextvars(request="ab12-cd34"):
        asked = app.tasks["tests.look"].apply_async((7, {"text": "nobody else's"}), headers={"mine": "stays"})
    assert asked.get(timeout=30) == "done"
    inside, after = ours(found)
    assert inside["request"] == after["request"] == "ab12-cd34"
    assert inside["task"] == after["task"] == asked.id[:8]
    assert after["event"] == "tests.look [7]: done"


def test_a_task_that_nobody_asked_for_has_no_request(app, lines, told):
    found = lines("json")
    assert app.tasks["tests.look"].delay(7, {}).get(timeout=30) == "done"
    assert [("request" in line, line["event"]) for line in ours(found)] == [
        (False, "looked"),
        (False, "tests.look [7]: done"),
    ]


def test_a_page_that_fails_shows_the_number_that_its_line_has(client, people, lines, told, monkeypatch):
    found = lines("json")
    factories.make_bank("b")
    client.force_login(people.operator)
    client.raise_request_exception = False

    def fails(*args: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr("reviews.views.queue.render", fails)
    answer = client.get("/reviews/")
    said = next(line for line in map(json.loads, found) if line["logger"] == "memadmin.requests")
    assert answer.status_code == said["status"] == 500
    assert said["request"] in answer.content.decode()

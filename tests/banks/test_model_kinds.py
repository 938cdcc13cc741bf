"""Refreshes of mental models through the door: followed, found again, never begun twice, one after the other."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import httpx
import pytest
import time_machine
from django.utils import timezone

from banks import connections, model_kinds, selectors_models
from banks.demo import DemoServer, Pace
from banks.hindsight import MentalModel
from banks.mental import acts
from banks.models import Bank, Write
from banks.writes import worker
from tests.banks.conftest import LyingTransport, store
from tests.banks.mental import AUTOMATIC, history_in, make_model, models_in, work
from tests.conftest import People

pytestmark = pytest.mark.django_db(transaction=True)
State = Write.State


def after(write: Write) -> Write:
    work(write.bank)
    write.refresh_from_db()
    return write


class Answering(httpx.BaseTransport):
    """The line, but for what `answer` answers itself."""

    def __init__(self, line: LyingTransport, answer: Callable[[httpx.Request], httpx.Response | None]) -> None:
        self.line, self.answer = line, answer

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self.answer(request) or self.line.handle_request(request)


@pytest.fixture
def slow(bank: Bank) -> Iterator[tuple[LyingTransport, time_machine.Traveller]]:
    """A server that takes its time, and a clock that stands still."""
    with time_machine.travel("2026-03-16T10:00:00Z", tick=False) as clock:
        line = LyingTransport(DemoServer(clock=timezone.now, pace=Pace(pickup=1, work=30)))
        connections.TRANSPORTS[bank.server.base_url] = line
        store(bank, "notes/a.md", "Ann keeps the ledger. Ben reads it.")
        clock.shift(60)
        yield line, clock
        del connections.TRANSPORTS[bank.server.base_url]


def test_a_refresh_writes_the_text_anew_and_the_old_one_is_history(
    bank: Bank, line: LyingTransport, people: People
) -> None:
    before = make_model(bank)
    store(bank, "notes/b.md", "Cleo audits the ledger.")
    write = after(acts.refresh(user=people.reviewer, bank=bank, model_id="m1"))
    assert (write.state, write.outcome["said"]) == (State.DONE, "Written anew.")
    assert "Cleo" in (models_in(bank)["m1"].content or "")
    assert history_in(bank)[0].before == before.content
    assert line.sent("POST") == 3  # with the model and the second document, which were made past the door


def test_a_refresh_that_finds_nothing_else_says_so(bank: Bank, line: LyingTransport, people: People) -> None:
    before = make_model(bank)
    write = after(acts.refresh(user=people.reviewer, bank=bank, model_id="m1"))
    assert (write.state, write.outcome["said"]) == (State.DONE, model_kinds.SAME)
    assert models_in(bank)["m1"].content == before.content
    assert [each.before for each in history_in(bank)] == [None]


def test_a_refresh_is_followed_until_the_server_has_ended(
    bank: Bank, slow: tuple[LyingTransport, time_machine.Traveller], people: People
) -> None:
    line, clock = slow
    make_model(bank)
    clock.shift(60)
    write = acts.refresh(user=people.reviewer, bank=bank, model_id="m1")
    assert worker.run(write.pk) == "accepted"
    assert selectors_models.sheet_of(bank).rows[0].state == "generating"  # type: ignore[index]
    clock.shift(10)
    assert worker.run(write.pk) == "accepted"
    clock.shift(60)
    assert worker.run(write.pk) == "done"
    assert line.calls[-1][0] == "GET"


def test_a_refresh_whose_answer_is_lost_is_found_and_not_begun_twice(
    bank: Bank, slow: tuple[LyingTransport, time_machine.Traveller], people: People
) -> None:
    line, clock = slow
    make_model(bank)
    clock.shift(60)
    posts = line.sent("POST")
    line.cut_after.append("POST")
    write = acts.refresh(user=people.reviewer, bank=bank, model_id="m1")
    assert worker.run(write.pk) == "unknown"
    for _ in range(4):
        clock.shift(20)
        worker.run(write.pk)
    write.refresh_from_db()
    assert (write.state, line.sent("POST") - posts) == (State.DONE, 1)


def test_what_the_server_could_not_write_needs_a_person(bank: Bank, line: LyingTransport, people: People) -> None:
    make_model(bank)

    def failed(request: httpx.Request) -> httpx.Response | None:
        if "/operations/" not in request.url.path:
            return None
        operation = request.url.path.rpartition("/")[2]
        row = {"operation_id": operation, "status": "failed", "error_message": "no model", "operation_type": "x"}
        return httpx.Response(200, json=row)

    write = acts.refresh(user=people.reviewer, bank=bank, model_id="m1")
    connections.TRANSPORTS[bank.server.base_url] = Answering(line, failed)
    after(write)
    assert write.state == State.ATTENTION
    assert "no model" in write.error_text
    assert "old text stays" in write.error_text


def test_of_a_bank_one_text_after_the_other_is_written(
    bank: Bank, slow: tuple[LyingTransport, time_machine.Traveller], people: People
) -> None:
    line, clock = slow
    for model_id in ("m1", "m2"):
        make_model(bank, model_id)
    clock.shift(120)
    first, second = (acts.refresh(user=people.reviewer, bank=bank, model_id=each) for each in ("m1", "m2"))
    posts = line.sent("POST")
    worker.run(first.pk)
    worker.run(second.pk)
    assert line.sent("POST") - posts == 1
    clock.shift(60)
    worker.run(first.pk)
    worker.run(second.pk)
    assert line.sent("POST") - posts == 2


def test_refreshing_many_takes_those_that_the_server_refreshes_itself(
    bank: Bank, line: LyingTransport, people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        make_model(bank, f"auto-{number}", trigger=AUTOMATIC)
    make_model(bank, "curated")
    due = acts.due(selectors_models.sheet_of(bank, detail="content").rows or [])
    assert {row.model.id for row in due} == {"auto-0", "auto-1", "auto-2"}
    monkeypatch.setattr(acts, "MOST_REFRESHED", 2)
    group = acts.refresh_all(user=people.reviewer, bank=bank, rows=due)
    rows = Write.objects.filter(group=group)
    assert rows.count() == 2
    assert len({row.slot for row in rows}) == 1
    work(bank)
    assert {row.state for row in rows.all()} == {State.DONE}


def test_placeholders_are_no_text() -> None:
    for content in ("Generating content...", "  Generating content…", "", " \n", None):
        assert MentalModel.parse({"id": "m", "content": content}).content is None
    assert MentalModel.parse({"id": "m", "content": "We generate."}).content == "We generate."


def test_an_hour_later_it_is_no_longer_followed(
    bank: Bank, slow: tuple[LyingTransport, time_machine.Traveller], people: People
) -> None:
    line, clock = slow
    line.server = DemoServer(clock=timezone.now, pace=Pace(pickup=1, work=100_000))
    with connections.client_for(bank.server) as client:
        client.put_bank(bank.bank_id)
    make_model(bank)
    clock.shift(10)
    write = acts.refresh(user=people.reviewer, bank=bank, model_id="m1")
    worker.run(write.pk)
    clock.shift(timedelta(hours=2).total_seconds())
    assert worker.run(write.pk) == "done"
    write.refresh_from_db()
    assert "goes on watching it" in write.outcome["said"]

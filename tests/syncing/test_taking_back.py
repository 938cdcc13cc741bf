"""What was decided in memadmin appears in the queue file, as its tool would have written it."""

import json

import pytest
import time_machine

from banks.models import Bank, Write
from reviews.models import Decision, ReviewEntry
from reviews.services import decide, feed
from tests import factories
from tests.conftest import People
from tests.reviews.queue_files import done
from tests.syncing.machine import Machine, approve, delete

pytestmark = pytest.mark.django_db(transaction=True)
Capture = pytest.CaptureFixture[str]


def test_an_approval_is_one_line_to_the_byte(bank: Bank, people: People, machine: Machine, capsys: Capture) -> None:
    machine.has(machine.add("doc"))
    before = machine.queue.read_bytes()
    assert machine.sync(capsys)["queue"] == {"sent": 1, "lines": 1, "accepted": 1, "pending_in_the_tool": 1}
    assert machine.queue.read_bytes() == before
    with time_machine.travel("2026-08-20T12:00:00.123456Z", tick=False):
        approve(people.owner, bank, "doc")
    assert machine.sync(capsys)["taken_back"] == {"approved": 1}
    said = b'{"ev":"done","docId":"doc","action":"approved","ts":"2026-08-20T12:00:00.123Z","via":"memadmin"}\n'
    assert machine.queue.read_bytes() == before + said
    for _ in range(2):
        assert machine.sync(capsys)["taken_back"] == {}
    assert machine.queue.read_bytes() == before + said
    assert len(machine.here.sent) == 1  # our own line is none of the tool's


def test_a_delete_is_told_when_the_bank_has_done_it(
    bank: Bank, people: People, machine: Machine, capsys: Capture
) -> None:
    machine.has(machine.add("doc"))
    machine.sync(capsys)
    delete(people.owner, bank, "doc", state="unknown")
    assert machine.sync(capsys)["taken_back"] == {}
    Write.objects.update(state="done")
    machine.sync(capsys)
    assert (machine.events[-1]["action"], "by" in machine.events[-1]) == ("deleted", False)


@pytest.mark.parametrize(("verdict", "via", "by"), [("approved", "expiry", "expiry"), ("gone", "housekeeping", "auto")])
def test_what_no_person_decided_says_so(
    bank: Bank, machine: Machine, capsys: Capture, verdict: str, via: str, by: str
) -> None:
    machine.has(machine.add("doc"))
    machine.sync(capsys)
    Decision.objects.create(entry=ReviewEntry.objects.get(), verdict=verdict, decided_via=via, version=1)
    machine.sync(capsys)
    assert (machine.events[-1]["action"], machine.events[-1]["by"]) == ("approved", by)


def test_what_is_taken_back_waits_again(bank: Bank, people: People, machine: Machine, capsys: Capture) -> None:
    machine.has(machine.add("doc", project="/home/ann/café"))
    machine.sync(capsys)
    approve(people.owner, bank, "doc")
    machine.sync(capsys)
    decide.undo(user=people.owner, entry_id=ReviewEntry.objects.get().pk)
    assert machine.sync(capsys)["taken_back"] == {"added again": 1}
    first, again = machine.events[0], machine.events[-1]
    assert again == {**first, "ts": again["ts"], "via": "memadmin"}
    assert again["ts"] > first["ts"]
    approve(people.owner, bank, "doc")
    machine.sync(capsys)
    assert [event["ev"] for event in machine.events] == ["add", "done", "add", "done"]


def test_what_was_decided_and_taken_back_in_between_is_no_line(
    bank: Bank, people: People, machine: Machine, capsys: Capture
) -> None:
    machine.has(machine.add("doc"), machine.add("gone"))
    machine.sync(capsys)
    decide.undo(user=people.owner, entry_id=approve(people.owner, bank, "doc").pk)
    decide.undo(user=people.owner, entry_id=delete(people.owner, bank, "gone", state="").pk)
    before = machine.queue.read_bytes()
    assert machine.sync(capsys)["taken_back"] == {}
    assert machine.queue.read_bytes() == before


def test_a_line_of_another_bank_or_server_is_never_closed(
    bank: Bank, people: People, machine: Machine, capsys: Capture
) -> None:
    machine.has(machine.add("doc"), machine.add("other"), machine.add("third"), machine.add("fourth"))
    machine.sync(capsys)
    # The tool's rule knows the id alone: what is pending there now belongs to somebody else.
    machine.has(machine.add("doc", bank="private"), machine.add("other", baseUrl="http://10.0.0.7:8888"))
    machine.has(machine.add("third", namespace="else"), machine.add("fourth", baseUrl="http://localhost.example.net"))
    for document_id in ("doc", "other", "third", "fourth"):
        approve(people.owner, bank, document_id)
    before = machine.queue.read_bytes()
    assert machine.sync(capsys)["taken_back"] == {}
    assert machine.queue.read_bytes() == before


def test_a_decision_about_an_earlier_text_closes_no_newer_one(
    bank: Bank, people: People, machine: Machine, capsys: Capture
) -> None:
    machine.has(machine.add("doc"))
    machine.sync(capsys)
    approve(people.owner, bank, "doc")
    # Written again after the decision: memadmin opens it again, so it stays open here.
    machine.has(machine.add("doc", ts="2099-01-01T00:00:00.000Z"))
    assert machine.sync(capsys)["taken_back"] == {}
    assert [event["ev"] for event in machine.events] == ["add", "add"]
    # The tool's clock may be behind: memadmin says it is the older one, and its decision stands.
    approve(people.owner, bank, "doc")
    machine.sync(capsys)
    machine.has(machine.add("doc", ts="2026-08-19T10:00:00.001Z"))
    assert machine.sync(capsys)["taken_back"] == {"approved": 1}


def test_what_the_tool_decided_itself_is_not_said_twice(
    bank: Bank, people: People, machine: Machine, capsys: Capture
) -> None:
    machine.has(machine.add("doc"))
    machine.sync(capsys)
    machine.has(done("doc"))
    before = machine.queue.read_bytes()
    machine.sync(capsys)
    assert machine.queue.read_bytes() == before
    assert ReviewEntry.objects.get().state == "approved"
    assert feed.number() == 0


def test_a_torn_last_line_is_ended_first_and_waits(
    bank: Bank, people: People, machine: Machine, capsys: Capture
) -> None:
    torn = machine.add("late").encode()
    machine.has(machine.add("doc"), torn)
    assert machine.sync(capsys)["queue"]["sent"] == 1
    approve(people.owner, bank, "doc")
    machine.sync(capsys)
    assert machine.queue.read_bytes().startswith(machine.add("doc").encode() + b"\n" + torn + b'\n{"ev":"done"')
    assert ReviewEntry.objects.count() == 1
    assert machine.sync(capsys)["queue"]["sent"] == 1
    assert ReviewEntry.objects.count() == 2


def test_only_the_decisions_of_its_bank(bank: Bank, people: People, machine: Machine, capsys: Capture) -> None:
    other = factories.make_bank(server=bank.server)
    factories.grant(people.reviewer, other, 2)
    machine.has(machine.add("doc"))
    machine.sync(capsys)
    Decision.objects.create(
        entry=factories.make_entry(other, "doc"), verdict="approved", decided_via="person", version=1
    )
    assert machine.sync(capsys)["taken_back"] == {}
    assert json.loads(machine.state.read_text())["cursor"] != ""

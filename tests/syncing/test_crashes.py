"""Killed between any two steps: the next run does the rest, nothing is lost and nothing comes twice."""

import itertools
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

import httpx
import pytest

from banks.models import Bank
from memadmin.syncing import files
from memadmin.syncing.state import Store
from reviews.models import Decision, ReviewEntry, SourceEvent
from reviews.services import decide
from tests.conftest import People
from tests.racing import at_once
from tests.reviews.queue_files import done
from tests.syncing.machine import Here, Machine, approve

pytestmark = pytest.mark.django_db(transaction=True)
Capture = pytest.CaptureFixture[str]


class Killed(BaseException):
    pass


class Steps:
    """Kills at one step: before it has taken effect, or right after."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left = 10**6
        for owner, name in ((Store, "save"), (files.Appender, "append"), (Here, "handle_request")):
            monkeypatch.setattr(owner, name, self.counted(getattr(owner, name)))

    def counted(self, act: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*given: Any) -> Any:
            self.step()
            said = act(*given)
            self.step()
            return said

        return counted

    def step(self) -> None:
        self.left -= 1
        if self.left == 0:
            raise Killed


def test_killed_at_every_step(
    bank: Bank, people: People, machine: Machine, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = Steps(monkeypatch)
    decided: list[str] = []
    for number in itertools.count(1):
        # A turn with everything: a new memory, a verdict of the tool, one of a person, and one that was taken back.
        kept, again, new = f"kept-{number}", f"again-{number}", f"new-{number}"
        machine.has(machine.add(kept), machine.add(again))
        machine.sync(capsys)
        undone = approve(people.owner, bank, again)
        machine.sync(capsys)
        approve(people.owner, bank, kept)
        decide.undo(user=people.owner, entry_id=undone.pk)
        machine.has(machine.add(new), done(new))
        steps.left, finished = number, False
        with suppress(Killed):
            machine.command().run()
            finished = True
        steps.left = 10**6
        machine.sync(capsys)
        decided += [kept, again, new]
        if finished:
            break
    assert number > 15
    said = Counter((event["docId"].split("-")[0], event["ev"]) for event in machine.events)
    assert said == {
        ("kept", "add"): number,
        ("kept", "done"): number,
        ("again", "add"): 2 * number,
        ("again", "done"): number,
        ("new", "add"): number,
        ("new", "done"): number,
    }
    assert ReviewEntry.objects.count() == len(decided)
    assert SourceEvent.objects.count() == 4 * number
    assert Decision.objects.count() == 4 * number


def test_an_answer_that_was_lost_is_one_import(bank: Bank, machine: Machine, capsys: Capture) -> None:
    machine.has(machine.add("doc"))
    real = machine.here.handle_request

    class Lost(httpx.BaseTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            real(request)
            raise httpx.ReadTimeout("lost")

    machine.command(here=Lost()).run()
    assert "ReadTimeout" in capsys.readouterr().out
    machine.sync(capsys)
    assert SourceEvent.objects.count() == 1


def test_two_programs_with_memories_of_their_own(bank: Bank, people: People, machine: Machine, capsys: Capture) -> None:
    names = [f"doc-{number}" for number in range(20)]
    machine.has(*map(machine.add, names))
    states = [str(machine.folder / f"state-{number}") for number in range(3)]
    for state in states:
        machine.sync(capsys, "--state", state)
    for name in names:
        approve(people.owner, bank, name)
    at_once(*[partial(machine.command("--state", state, here=Here()).run) for state in states])
    assert Counter(event["docId"] for event in machine.events if event["ev"] == "done") == Counter(names)


def test_two_programs_with_the_same_memory(bank: Bank, machine: Machine, capsys: Capture) -> None:
    machine.has(machine.add("doc"))
    first = machine.command()
    with first._store().alone():
        assert "Another sync" in machine.sync(capsys, code=1)["problems"][0]
    assert machine.sync(capsys)["queue"]["accepted"] == 1


def test_a_file_that_is_replaced_while_we_append_is_looked_at_again(
    bank: Bank, people: People, machine: Machine, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.has(machine.add("doc"))
    machine.sync(capsys)
    approve(people.owner, bank, "doc")
    append, replaced = files.Appender.append, []

    def replace(self: files.Appender, line: str) -> None:
        if not replaced:
            replaced.append(line)
            fresh = machine.folder / "fresh"
            fresh.write_bytes(machine.queue.read_bytes())
            fresh.replace(machine.queue)
        append(self, line)

    monkeypatch.setattr(files.Appender, "append", replace)
    machine.sync(capsys)
    assert [event["ev"] for event in machine.events] == ["add", "done"]

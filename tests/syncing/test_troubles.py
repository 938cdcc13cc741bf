"""What may go wrong between two machines: said in words, survived, and never with the token in it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import httpx
import pytest
from django.utils import timezone

from banks.models import Bank, Role
from memadmin.syncing import command
from reviews.models import ReviewEntry
from tests import factories
from tests.api.asking import issue
from tests.conftest import People
from tests.syncing.machine import Machine, approve

Capture = pytest.CaptureFixture[str]
Answer = Callable[[httpx.Request], httpx.Response]


def answers(status: int, body: object = None, **headers: str) -> Answer:
    return lambda request: httpx.Response(
        status, json={"detail": "no\x1b[2J"} if body is None else body, headers=headers
    )


def offline(request: httpx.Request) -> httpx.Response:
    raise httpx.ConnectError("mem_secret")


TROUBLES = [
    (offline, "cannot be reached"),
    (answers(401), "API tokens"),
    (answers(403), "may not do that: no�[2J"),
    (answers(404), "refuses (404)"),
    (answers(409, {"detail": "Which?", "servers": ["a", "b"]}), "Servers: a, b."),
    (answers(429, **{"Retry-After": "120"}), "wait 120 s"),
    (answers(500), "answers 500"),
    (answers(503), "answers 503"),
    (answers(302, Location="http://elsewhere.test/"), "redirect"),
    (answers(200, []), "not memadmin's API"),
    (answers(200, {}), "not memadmin's API"),
]


@pytest.mark.parametrize(("answer", "said"), TROUBLES)
def test_each_trouble_is_a_sentence(tmp_path: Path, capsys: Capture, answer: Answer, said: str) -> None:
    bank = Bank(bank_id="checkout-service")
    machine = Machine(tmp_path, bank, "mem_secret")
    machine.has(machine.add("doc"))
    before = machine.queue.read_bytes()
    for more in ((), ("--watch",)):
        machine.slept.clear()
        asked = machine.command(*more, here=httpx.MockTransport(answer))
        asked._sleep = _three_times(machine)  # type: ignore[method-assign]
        try:
            assert asked.run() == 1
        except command.Stopped:
            assert machine.slept == sorted(machine.slept)
            assert machine.slept[0] >= 20
        told = capsys.readouterr()
        assert said in told.out + told.err
        assert (told.out + told.err).count(said) == 1
        assert "mem_secret" not in told.out + told.err + machine.state.with_suffix(".json.lock").read_text()
    assert machine.queue.read_bytes() == before


def _three_times(machine: Machine) -> Callable[[float], None]:
    def sleep(seconds: float) -> None:
        machine.slept.append(seconds)
        if len(machine.slept) == 3:
            raise command.Stopped(signal.SIGTERM)

    return sleep


@pytest.mark.django_db(transaction=True)
def test_a_short_429_is_waited_for(bank: Bank, machine: Machine, capsys: Capture) -> None:
    refused = [httpx.Response(429, headers={"Retry-After": "7"}) for _ in range(2)]
    machine.here.before = lambda request: refused.pop() if refused else None
    machine.has(machine.add("doc"))
    assert machine.sync(capsys)["queue"]["accepted"] == 1
    assert machine.slept[:2] == [7.0, 7.0]


@pytest.mark.django_db(transaction=True)
def test_watching_goes_on_after_trouble(bank: Bank, people: People, machine: Machine, capsys: Capture) -> None:
    machine.has(machine.add("doc"))
    acts: list[Callable[[], object]] = [
        lambda: setattr(machine.here, "before", answers(503)),
        lambda: setattr(machine.here, "before", lambda request: None),
        lambda: approve(people.owner, bank, "doc"),
        lambda: None,
    ]

    def sleep(seconds: float) -> None:
        machine.slept.append(seconds)
        if not acts:
            raise command.Stopped(signal.SIGTERM)
        acts.pop(0)()

    asked = machine.command("--watch", "--every", "3")
    asked._sleep = sleep  # type: ignore[method-assign]
    with pytest.raises(command.Stopped):
        asked.run()
    assert [event["ev"] for event in machine.events] == ["add", "done"]
    told = capsys.readouterr()
    assert [list(json.loads(line)["taken_back"]) for line in told.out.splitlines()] == [[], ["approved"]]
    assert told.err.index("answers 503") < told.err.index("It works again.")
    assert machine.slept == [3, 6, 3, 3, 3]


@pytest.mark.django_db(transaction=True)
def test_a_new_token_counts_at_once_and_an_ended_one_does_not(
    bank: Bank, people: People, machine: Machine, capsys: Capture
) -> None:
    machine.has(machine.add("doc"))
    people.reviewer.tokens.update(expires=timezone.now())
    assert "API tokens" in machine.sync(capsys, code=1)["problems"][0]
    machine.token.write_text(issue(people.viewer, role=Role.VIEWER))
    assert "may not" in machine.sync(capsys, code=1)["problems"][0]
    assert not ReviewEntry.objects.exists()
    machine.token.write_text(f"{issue(people.reviewer)}\n")
    assert machine.sync(capsys)["queue"]["accepted"] == 1


@pytest.mark.django_db(transaction=True)
def test_which_bank(bank: Bank, people: People, machine: Machine, capsys: Capture) -> None:
    twin = factories.make_bank(bank.bank_id)
    factories.grant(people.reviewer, twin, Role.REVIEWER)
    machine.has(machine.add("doc"))
    assert "Say --server NAME" in machine.sync(capsys, code=1)["problems"][0]
    assert machine.sync(capsys, "--server", twin.server.name)["queue"]["accepted"] == 1
    assert ReviewEntry.objects.get().bank == twin
    assert "no bank" in machine.sync(capsys, "--server", "none", code=1)["problems"][0]


@pytest.mark.parametrize(
    "given",
    [
        ["--url", "ftp://x"],
        ["--url", "http://ann:secret@memadmin.test"],
        ["--url", ""],
        ["--token-file", "nowhere"],
        ["--address", "localhost:8888"],
        ["--queue", "off"],
    ],
)
def test_a_command_line_that_cannot_be_used(tmp_path: Path, capsys: Capture, given: list[str]) -> None:
    token = tmp_path / "token"
    token.write_text("mem_secret")
    usual = ["--url", "http://memadmin.test", "--token-file", str(token), "--bank", "b"]
    assert command.main([*usual, *given]) == 2
    assert "secret" not in capsys.readouterr().err


def test_the_program_starts_without_django_and_ends_by_a_signal(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("mem_secret")
    asked = ["--url", "http://127.0.0.1:9", "--token-file", str(token), "--bank", "b", "--state", str(tmp_path / "s")]
    code = (
        "import sys; from memadmin.cli import main; left = main(); assert 'django' not in sys.modules; sys.exit(left)"
    )
    environ = {**os.environ, "DJANGO_SETTINGS_MODULE": "nowhere"}
    with subprocess.Popen(
        [sys.executable, "-c", code, "sync", "--watch", *asked, "--queue", str(tmp_path / "q")],
        stderr=subprocess.PIPE,
        text=True,
        env=environ,
    ) as program:
        assert program.stderr is not None
        assert "Looking every 10 s" in program.stderr.readline()
        assert "cannot be reached" in program.stderr.readline()
        program.send_signal(signal.SIGTERM)
        assert program.wait(120) == 0

"""The processes of the Procfile as a team runs them: several of each, on PostgreSQL and Redis, behind a proxy."""

import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path

import httpx
import pytest

from memadmin.runtime import die_with_parent
from memadmin.up.folder import free_port
from tests.stack.support import ROOT, clean_environment, procfile, wait_for

pytestmark = [pytest.mark.stack, pytest.mark.services]

PROXY = {"Host": "memadmin.example.org", "X-Forwarded-Proto": "https"}
BEATS = "This process gives the beat"
START = 180.0  # seconds; eight processes begin at once


class Process:
    """One line of the Procfile as a process, and what it printed."""

    def __init__(self, name: str, command: list[str], env: dict[str, str], folder: Path) -> None:
        self.name, self._log = name, folder / f"{name}.log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=env,
                stdout=log,
                stderr=log,
                start_new_session=True,
                preexec_fn=partial(die_with_parent, os.getpid()),
            )

    @property
    def output(self) -> str:
        return self._log.read_text(errors="replace")

    def kill(self) -> None:
        """With its children: a web server cannot take them along."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait(60)

    def ask_to_stop(self) -> None:
        self._process.send_signal(signal.SIGTERM)

    def ended(self, seconds: float = 90) -> int:
        return self._process.wait(seconds)


class Team:
    def __init__(self, folder: Path, demo: str) -> None:
        data = folder / "var"
        self.env = clean_environment(
            data,
            MEMADMIN_PRODUCTION="yes",
            MEMADMIN_PUBLIC_URL="https://memadmin.example.org",
            MEMADMIN_ALLOWED_HOSTS="memadmin.example.org",
            MEMADMIN_RETAIN_WAIT_SECONDS="0.2",
            HINDSIGHT_BASE_URL=demo,
        )
        self.folder = folder
        self.processes: list[Process] = []

    def start(self, line: str, number: int, **env: str) -> Process:
        told = {**self.env, **env}
        command = re.sub(r"\$\{(\w+):-\w+\}", lambda found: told[found[1]], procfile()[line]).replace(
            "@%h", f"-{number}@%h"
        )
        words = [sys.executable if word == "python" else word for word in shlex.split(command)]
        started = Process(f"{line}-{number}", words, told, self.folder)
        self.processes.append(started)
        return started

    def run(self, *arguments: str) -> str:
        command = [sys.executable, "-m", "memadmin", *arguments]
        done = subprocess.run(command, cwd=ROOT, env=self.env, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout


@contextmanager
def a_team(folder: Path) -> Iterator[Team]:
    with ExitStack() as stack:
        demo = Process(
            "demo",
            [sys.executable, "-m", "banks.demo", "--data", str(folder / "bank")],
            clean_environment(folder),
            folder,
        )
        stack.callback(demo.kill)
        wait_for(lambda: "http://" in demo.output)
        found = re.search(r"http://\S+", demo.output)
        assert found
        team = Team(folder, found[0])
        stack.callback(lambda: [process.kill() for process in team.processes])
        yield team


def test_two_of_each_store_a_memory_outlive_a_killed_beat_and_stop_in_order(tmp_path: Path) -> None:
    with a_team(tmp_path) as team:
        team.run("prepare")
        ports = [free_port(), free_port()]
        webs = [team.start("web", number, PORT=str(port)) for number, port in enumerate(ports)]
        for line in ("door", "load"):
            for number in range(2):
                team.start(line, number)
        beats = [team.start("beat", number) for number in range(2)]

        for port in ports:
            wait_for(partial(_answers, port), seconds=START)
        wait_for(lambda: any(BEATS in beat.output for beat in beats), seconds=START)
        team.run("retain", "The team decided to keep the beat.", "--bank", "payments", "--wait", "--timeout", "90")

        first = next(beat for beat in beats if BEATS in beat.output)
        (second,) = (beat for beat in beats if beat is not first)
        assert BEATS not in second.output
        first.kill()
        wait_for(lambda: BEATS in second.output)
        team.run("retain", "The other beat took over.", "--bank", "payments", "--wait", "--timeout", "90")

        living = [process for process in team.processes if process is not first]
        for process in living:
            process.ask_to_stop()
        assert {process.name: process.ended() for process in living} == {process.name: 0 for process in living}
        for process in [*living, *webs]:
            assert "Traceback" not in process.output, process.output


def _answers(port: int) -> bool:
    """The sign-in page, as the proxy asks for it: with its styles under names that may be kept for ever."""
    try:
        page = httpx.get(f"http://127.0.0.1:{port}/accounts/login/", headers=PROXY, timeout=5)
    except httpx.TransportError:
        return False
    assert page.status_code == 200
    style = re.search(r'href="(/static/[^"]+\.css)"', page.text)
    assert style
    sheet = httpx.get(f"http://127.0.0.1:{port}{style[1]}", headers={**PROXY, "Accept-Encoding": "gzip"}, timeout=5)
    assert (sheet.headers["content-encoding"], "immutable" in sheet.headers["cache-control"]) == ("gzip", True)
    return True

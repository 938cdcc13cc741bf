"""The whole product as processes on a folder of its own, in front of a demo server that it reaches by a lying line."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx

from memadmin.runtime import die_with_parent
from tests.faults.kept import Broker, worker
from tests.faults.proxy import LyingLine
from tests.services import backing
from tests.stack.support import ROOT, Up, clean_environment, processes

READ_TIMEOUT = 2.0  # seconds that memadmin waits for its server
SETTINGS = {
    "MEMADMIN_UNDO_SECONDS": "1.5",
    "MEMADMIN_CLAIM_SECONDS": "3",
    "MEMADMIN_RETAIN_WAIT_SECONDS": "0.5",
    "MEMADMIN_ADMIN_USERNAME": "operator",
    "MEMADMIN_ADMIN_PASSWORD": "a long enough password",
    "MEMADMIN_LOG_LEVEL": "WARNING",
}
COMMANDS = {"web": "-m granian", "door": "-Q door", "load": "-Q load", "beat": " beat ", "broker": "valkey-server"}
# Whom a round may kill; a frozen process does not run for longer than its claims last, and then goes on.
VICTIMS = (*COMMANDS, "web child", "frozen door", "frozen load")
FROZEN = 5.0  # seconds


@dataclass
class Stack:
    data_dir: Path
    up: Up
    line: LyingLine
    demo_file: Path
    broker: Broker | None = None  # ours, where it is not the embedded one
    address: str = ""

    def kill(self, name: str, choose: Callable[[list[int]], int] = min) -> bool:
        """SIGKILL, now; False when it is dead already. What it is part of starts it again. `choose`: among pids."""
        if name == "broker" and self.broker is not None:
            return self.broker.kill()
        victim = name.removeprefix("frozen ")
        pids = self._pids(victim)
        if not pids:
            return False
        if victim == name:
            _signal(choose(pids), signal.SIGKILL)
        else:
            self._freeze(choose(pids))
        return True

    def kill_sender(self, port: int) -> bool:
        """SIGKILL for the worker that has this local TCP port."""
        found = [pid for pid in self._pids("door") if _has_port(pid, port)]
        for pid in found:
            _signal(pid, signal.SIGKILL)
        return bool(found)

    @staticmethod
    def _freeze(pid: int) -> None:
        _signal(pid, signal.SIGSTOP)
        timer = threading.Timer(FROZEN, _signal, (pid, signal.SIGCONT))
        timer.daemon = True
        timer.start()

    def _pids(self, name: str) -> list[int]:
        """The oldest first."""
        living = processes(self.data_dir)
        if name == "web child":
            mothers = [pid for pid, command in living.items() if COMMANDS["web"] in command]
            return sorted(pid for pid in living if _parent(pid) in mothers)
        return sorted(pid for pid, command in living.items() if COMMANDS[name] in command)

    def answers(self) -> bool:
        try:
            return httpx.get(f"{self.address}/healthz", timeout=5).status_code == 200
        except httpx.TransportError:
            return False


@contextmanager
def running(folder: Path) -> Iterator[Stack]:
    """Everything runs during the block; afterwards nothing is left, whatever happened."""
    data_dir = folder / "var"
    with ExitStack() as stack:
        port = _demo(stack, folder / "bank")
        line = LyingLine(port, stall=READ_TIMEOUT + 0.5)
        stack.callback(line.close)
        told = {**SETTINGS, **backing.of(data_dir), "HINDSIGHT_BASE_URL": line.url, "HOME": str(folder)}
        broker = stack.enter_context(Broker(folder / "broker")) if backing.in_use() else None
        if broker is not None:
            told["REDIS_URL"] = broker.url  # the suite's own is not to be killed
        up = Up(data_dir, "--port", "0", **told)
        stack.callback(_end, up, data_dir)
        whole = Stack(data_dir, up, line, folder / "bank" / "demo.sqlite3", broker, up.wait_until_ready())
        own = clean_environment(data_dir, **told)
        _take_over(own)
        for queue in ("door", "load"):
            stack.enter_context(worker(queue, folder=folder / f"{queue} beside", env=own))
        yield whole


def _take_over(environment: dict[str, str]) -> None:
    """This process reads the same database by the same settings, whatever it was told before."""
    for name in os.environ.keys() - environment.keys():
        del os.environ[name]
    os.environ.update(environment)


def _demo(stack: ExitStack, folder: Path) -> int:
    process = subprocess.Popen(
        [sys.executable, "-m", "banks.demo", "--data", str(folder)],
        cwd=ROOT,
        env=clean_environment(folder),
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=partial(die_with_parent, os.getpid()),
    )
    stack.callback(_terminate, process)
    assert process.stdout is not None
    told = re.search(r":(\d+)$", process.stdout.readline().strip())
    assert told, "the demo server did not start"
    return int(told[1])


def _terminate(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _end(up: Up, data_dir: Path) -> None:
    """In order if it can; in any case, and whoever is left."""
    try:
        up.stop(signal.SIGTERM)
    except subprocess.TimeoutExpired:
        up.process.kill()
        up.process.wait()
    deadline = time.monotonic() + 10
    while (left := processes(data_dir)) and time.monotonic() < deadline:
        for pid in left:
            _signal(pid, signal.SIGKILL)
        time.sleep(0.1)


def _signal(pid: int, sign: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, sign)


def _has_port(pid: int, port: int) -> bool:
    """Whether a TCP connection of this process goes out from this port."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    sockets = {f"socket:[{row[9]}]" for row in rows if row[1].endswith(f":{port:04X}")}
    try:
        return any(str(entry.readlink()) in sockets for entry in Path(f"/proc/{pid}/fd").iterdir())
    except OSError:  # it is dead already
        return False


def _parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0

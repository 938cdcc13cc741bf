"""Runs the product's processes as one: in order, with one log, restarted when they die, stopped in order.

One thread, one loop: nothing is ever forked while another thread holds a lock.
"""

import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import IO

from memadmin.runtime import die_with_parent

TICK = 0.03  # seconds between looks at things that send no signal
FIRST_WAIT, LONGEST_WAIT = 0.5, 30.0  # seconds before a dead process is started again
STEADY = 10.0  # who lived so long starts again with the first wait
KILL_WAIT = 5.0
LONGEST_LINE = 16_384


class Failed(Exception):
    """The product cannot run; str() says why and what to do."""


@dataclass(frozen=True)
class Program:
    """What to run. Programs of a higher tier are stopped before those of a lower one."""

    name: str
    command: Sequence[str]
    tier: int
    grace: float = 10.0  # seconds between the request to stop and the end
    env: Mapping[str, str] = field(default_factory=dict)
    once: bool = False  # does its work and ends
    hush: Sequence[str] = ()  # lines with one of these are known and of no use
    # What the kernel sends it when the supervisor is gone.
    last_signal: signal.Signals = signal.SIGTERM


class Child:
    """A program and its current process."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.process: subprocess.Popen[bytes] | None = None
        self.started = 0.0
        self.restart_at: float | None = None
        self.wait = FIRST_WAIT
        self.unfinished = b""

    def start(self) -> IO[bytes]:
        """Starts the process; returns its output."""
        parent, last = os.getpid(), self.program.last_signal
        self.process = subprocess.Popen(  # noqa: S603  our own commands, no shell
            list(self.program.command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "MEMADMIN_SUPERVISED": "1", **self.program.env},
            # Its own session: Ctrl-C in the terminal reaches the supervisor alone, which then stops them in order.
            start_new_session=True,
            preexec_fn=lambda: die_with_parent(parent, last),  # one thread only, see above
        )
        self.started, self.restart_at = time.monotonic(), None
        assert self.process.stdout is not None
        os.set_blocking(self.process.stdout.fileno(), False)
        return self.process.stdout

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.returncode is None

    def signal(self, sign: signal.Signals) -> None:
        if self.alive and self.process is not None:
            self.process.send_signal(sign)

    def kill_group(self) -> None:
        """Whatever the process left behind in its session goes too."""
        if self.process is not None:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                return

    def next_wait(self) -> float:
        wait = FIRST_WAIT if time.monotonic() - self.started > STEADY else self.wait
        self.wait = min(wait * 2, LONGEST_WAIT)
        return wait


class Supervisor:
    def __init__(self, out: Callable[[str], None] | None = None) -> None:
        self.children: list[Child] = []
        self.stop_requests = 0
        self._out = out or _print
        self._selector = selectors.DefaultSelector()
        self._wake_r, self._wake_w = socket.socketpair()
        for end in (self._wake_r, self._wake_w):
            end.setblocking(False)
        self._selector.register(self._wake_r, selectors.EVENT_READ, None)

    # ── signals ──────────────────────────────────────────────────────────────────────────────────────────

    def listen(self) -> None:
        """Takes over the signals that end us, and learns of dead children at once."""
        signal.set_wakeup_fd(self._wake_w.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGINT, self._request_stop)
        signal.signal(signal.SIGTERM, self._request_stop)
        if signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # nohup means: stay
            signal.signal(signal.SIGHUP, self._request_stop)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)

    def _request_stop(self, number: int, frame: FrameType | None) -> None:
        self.stop_requests += 1

    @property
    def stopping(self) -> bool:
        return self.stop_requests > 0

    # ── running ──────────────────────────────────────────────────────────────────────────────────────────

    def say(self, text: str) -> None:
        self._out(f"memadmin | {text}")

    def start(self, program: Program) -> Child:
        child = Child(program)
        self.children.append(child)
        self._launch(child)
        return child

    def run_until(self, done: Callable[[], bool], *, seconds: float, failing: Child | None = None) -> bool:
        """Runs the loop until `done()`; False when the time is over or somebody wants us to stop.

        Raises Failed when `failing`, which has never been up, died.
        """
        deadline = time.monotonic() + seconds
        while not self.stopping and time.monotonic() < deadline:
            if done():
                return True
            self._step(TICK)
            if failing is not None and failing.restart_at is not None:
                raise Failed(f"{failing.program.name} did not start; its last lines are above.")
        return False

    def run_forever(self) -> None:
        while not self.stopping:
            self._step(1.0)

    def stop_all(self) -> None:
        """Tier by tier, the last started first. A second Ctrl-C does not wait any longer."""
        patience = max(self.stop_requests, 1)
        for tier in sorted({child.program.tier for child in self.children}, reverse=True):
            group = [child for child in self.children if child.program.tier == tier]
            for child in group:
                child.restart_at = None
                child.signal(signal.SIGTERM)
            deadline = time.monotonic() + max(child.program.grace for child in group)
            while any(child.alive for child in group) and time.monotonic() < deadline:
                if self.stop_requests > patience:
                    break
                self._step(TICK, restart=False)
            for child in group:
                if child.alive:
                    self.say(f"{child.program.name} did not stop in time: killed")
                child.kill_group()
                self._reap(child)

    # ── the loop ─────────────────────────────────────────────────────────────────────────────────────────

    def _step(self, seconds: float, *, restart: bool = True) -> None:
        due = [child.restart_at for child in self.children if child.restart_at is not None]
        if restart and due:
            seconds = min(seconds, max(min(due) - time.monotonic(), 0.0))
        for key, _ in self._selector.select(seconds):
            if key.data is None:
                self._drain_wakeups()
            else:
                self._read(key.data)
        for child in self.children:
            if child.alive and child.process is not None and child.process.poll() is not None:
                self._died(child, restart=restart)
            elif restart and child.restart_at is not None and child.restart_at <= time.monotonic():
                self._launch(child)

    def _launch(self, child: Child) -> None:
        self._selector.register(child.start(), selectors.EVENT_READ, child)

    def _died(self, child: Child, *, restart: bool) -> None:
        self._forget_output(child)
        child.kill_group()
        assert child.process is not None
        if child.program.once or not restart:
            return
        wait = child.next_wait()
        child.restart_at = time.monotonic() + wait
        self.say(f"{child.program.name} {_ending(child.process.returncode)}; starting it again in {wait:g} s")

    def _reap(self, child: Child) -> None:
        if child.process is None:
            return
        try:
            child.process.wait(KILL_WAIT)
        except subprocess.TimeoutExpired:
            self.say(f"{child.program.name} (pid {child.process.pid}) cannot be killed")
        self._forget_output(child)

    # ── output ───────────────────────────────────────────────────────────────────────────────────────────

    def _drain_wakeups(self) -> None:
        try:
            while self._wake_r.recv(4096):
                pass
        except BlockingIOError:
            return

    def _read(self, child: Child) -> bool:
        """Prints what there is; False when there is nothing more for now."""
        assert child.process is not None
        assert child.process.stdout is not None
        try:
            data = os.read(child.process.stdout.fileno(), 65_536)
        except BlockingIOError:
            return False
        if not data:
            self._selector.unregister(child.process.stdout)
            return False
        *lines, child.unfinished = (child.unfinished + data).split(b"\n")
        if len(child.unfinished) > LONGEST_LINE:
            lines, child.unfinished = [*lines, child.unfinished], b""
        for line in lines:
            self._print_line(child, line)
        return True

    def _print_line(self, child: Child, line: bytes) -> None:
        text = line.decode("utf-8", "replace").rstrip()
        if text and not any(known in text for known in child.program.hush):
            self._out(f"{child.program.name:8} | {text}")

    def _forget_output(self, child: Child) -> None:
        """Prints the rest and closes the pipe, even when somebody else still holds its other end."""
        if child.process is None or child.process.stdout is None or child.process.stdout.closed:
            return
        stream = child.process.stdout
        if stream in self._selector.get_map():
            while self._read(child):
                pass
        if stream in self._selector.get_map():
            self._selector.unregister(stream)
        if child.unfinished:
            self._print_line(child, child.unfinished)
            child.unfinished = b""
        stream.close()


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"


def _print(line: str) -> None:
    try:
        print(line, flush=True)
    except (BrokenPipeError, ValueError):
        # Whoever read our output is gone; the product goes on.
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115, PTH123

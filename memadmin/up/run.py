"""The run itself: lock, port, choice, processes in order, the address, and the way down."""

import argparse
import http.client
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from memadmin.runtime import NotPrivate, private_folder, socket_path
from memadmin.supervisor import Child, Failed, Supervisor
from memadmin.up import choice as choices
from memadmin.up import programs, valkey
from memadmin.up.folder import FolderLock, Running, check_port, free_port
from memadmin.up.signin import hand_over

DEFAULT_PORT = 8700
START_SECONDS = 120.0  # a slow disk may take its time; a failure is seen at once
PREPARE_SECONDS = 3600.0  # a migration of a big database


Starting = tuple[Child, Callable[[], bool]]  # a process, and whether it is ready


class Stopped(Exception):
    """Somebody pressed Ctrl-C before we were up."""


def main(arguments: Sequence[str]) -> int:
    options = _parser().parse_args(arguments)
    supervisor = Supervisor()
    try:
        return _run(supervisor, options)
    except (Failed, NotPrivate) as error:
        print(f"memadmin cannot start: {error}", file=sys.stderr, flush=True)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="memadmin up", description="Runs memadmin on this machine until Ctrl-C.")
    parser.add_argument("--port", type=int, help="port on 127.0.0.1 (default: PORT or 8700; 0: any free one)")
    parser.add_argument("--hindsight", default="", metavar="URL|demo|auto", help="choose the Hindsight server anew")
    parser.add_argument("--reset-demo", action="store_true", help="start the demo afresh: removes the demo's folder")
    return parser


def _run(supervisor: Supervisor, options: argparse.Namespace) -> int:
    base = choices.base_dir(os.environ)
    with FolderLock(base) as lock:
        port = _port(options)
        if options.reset_demo and choices.reset_demo(base):
            supervisor.say("the demo starts afresh")
        choice = choices.choose(base, os.environ, "demo" if options.reset_demo else options.hindsight)
        demo_port = choices.demo_port(base) if choice.demo else None
        choices.enter(choice.hindsight, base, os.environ, port=demo_port)
        os.environ["PORT"] = str(port)
        address = f"http://127.0.0.1:{port}"
        lock.describe(Running(os.getpid(), address, choice.hindsight, demo_port))
        supervisor.say(f"Hindsight: {_named(choice)} ({choice.why})")
        supervisor.listen()
        try:
            _start(supervisor, address, demo_port)
            supervisor.run_forever()
        except Stopped:
            pass
        finally:
            supervisor.say("stopping")
            supervisor.stop_all()
            supervisor.say("stopped")
    return 0


def _port(options: argparse.Namespace) -> int:
    wanted: int | None = options.port
    if wanted is None:
        text = os.environ.get("PORT", "").strip() or str(DEFAULT_PORT)
        if not text.isdigit():
            raise Failed(f"PORT must be a number, not {text!r}.")
        wanted = int(text)
    if not 0 <= wanted <= 65535:
        raise Failed(f"{wanted} is no port: ports go from 1 to 65535.")
    if wanted == 0:
        return free_port()
    check_port(wanted)
    return wanted


def _named(choice: choices.Choice) -> str:
    return "the demo server with sample memories" if choice.demo else choice.hindsight


def _start(supervisor: Supervisor, address: str, demo_port: int | None) -> None:
    data_dir = choices.base_dir(os.environ)  # the demo's own by now
    private_folder(data_dir)
    private_folder(data_dir / "run")
    starting = []
    if not os.environ.get("REDIS_URL") and not os.environ.get("REDIS_URL_FILE"):
        starting.append(_start_valkey(supervisor, data_dir))
    if demo_port is not None:
        starting.append(_start_demo(supervisor, data_dir, demo_port))
    # All at once: what needs another one waits for it, and tries again where it came too early.
    gate = data_dir / "run" / "prepared"
    gate.unlink(missing_ok=True)
    preparing = _start_preparing(supervisor, data_dir)
    web = supervisor.start(programs.web(int(address.rsplit(":", 1)[1]), after=gate))
    prepared = _prepared(supervisor, *preparing)
    for child, up in starting:
        _wait(supervisor, child, up)
    gate.touch()
    _wait(supervisor, web, lambda: answers(address, "/healthz"))
    for program in programs.workers():
        supervisor.start(program)
    _announce(address, data_dir, prepared)


def _start_valkey(supervisor: Supervisor, data_dir: Path) -> Starting:
    path = socket_path(data_dir)
    program = valkey.program(data_dir)
    valkey.end_leftover(path)
    return supervisor.start(program), lambda: valkey.answers(path)


def _start_demo(supervisor: Supervisor, data_dir: Path, port: int) -> Starting:
    return supervisor.start(programs.demo(data_dir, port)), lambda: answers(f"http://127.0.0.1:{port}", "/health")


def _wait(supervisor: Supervisor, child: Child, up: Callable[[], bool]) -> None:
    if supervisor.run_until(up, seconds=START_SECONDS, failing=child):
        return
    if supervisor.stopping:
        raise Stopped
    raise Failed(f"{child.program.name} was not ready in {START_SECONDS:g} s; its last lines are above.")


def _start_preparing(supervisor: Supervisor, data_dir: Path) -> tuple[Child, Path]:
    """Starts `memadmin prepare`; the file that it will write."""
    report = data_dir / "run" / "prepared.json"
    report.unlink(missing_ok=True)
    return supervisor.start(programs.prepare(report)), report


def _prepared(supervisor: Supervisor, child: Child, report: Path) -> dict[str, Any]:
    """What it reports. The rest of its work goes on beside the web server's start."""
    try:
        supervisor.run_until(lambda: report.is_file() or not child.alive, seconds=PREPARE_SECONDS)
        if supervisor.stopping:
            raise Stopped
        if not report.is_file():
            raise Failed("the database could not be prepared; the reason is above.")
        prepared: dict[str, Any] = json.loads(report.read_text(encoding="utf-8"))
        return prepared
    finally:
        report.unlink(missing_ok=True)  # it holds the sign-in link


def answers(address: str, path: str) -> bool:
    """Whether a GET is answered with 200."""
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=5)
    try:
        connection.request("GET", path, headers={"Host": _host_header(address)})
        answer = connection.getresponse()
        answer.read()
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
    return answer.status == 200


def _host_header(address: str) -> str:
    """A name that the Host check lets through, whatever MEMADMIN_ALLOWED_HOSTS says."""
    ours = address.removeprefix("http://")
    allowed = [name.strip() for name in os.environ.get("MEMADMIN_ALLOWED_HOSTS", "").split(",") if name.strip()]
    if not allowed or {"*", "127.0.0.1"} & set(allowed):
        return ours
    return allowed[0].removeprefix(".")


def _announce(address: str, data_dir: Path, prepared: dict[str, Any]) -> None:
    lines = ["", f"memadmin is ready: {os.environ.get('MEMADMIN_PUBLIC_URL') or address}/"]
    if path := prepared.get("link_path"):
        shown = hand_over(f"{address}{path}", data_dir, terminal=sys.stdout.isatty())
        if "link" in shown:
            lines.append(f"  sign in  {shown['link']}  (works once, for 15 minutes)")
        else:
            lines.append(f"  sign in  with the one-time link in {shown['link_file']}  (works once, for 15 minutes)")
    else:
        lines.append(f"  sign in  as {prepared['operator']}; `memadmin login-link` makes a one-time link")
    lines += [f"  data     {data_dir}", "  stop     Ctrl-C", ""]
    print("\n".join(lines), flush=True)

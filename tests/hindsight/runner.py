"""Starting, sharing and stopping the real server."""

import contextlib
import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from tests.hindsight import install as environment
from tests.hindsight.postgres import Postgres, PostgresFailed

ROOT = Path(__file__).resolve().parents[2]
KEY = "key-of-the-contract-tests"
_HEALTHY_WITHIN = 180.0  # seconds; a first start runs over a hundred migrations


class CannotStart(Exception):
    """Why there is no real server, in words for the person at the terminal."""


@dataclass(frozen=True, slots=True)
class Running:
    """A started server. `model`: its language model. `keep`: stays up when the tests that use it end."""

    url: str
    model: str
    pids: dict[str, int]
    keep: bool


@dataclass(frozen=True, slots=True)
class Home:
    """Where the server lives: `MEMADMIN_HINDSIGHT_HOME`, else `.cache/hindsight` in the repository."""

    folder: Path

    @classmethod
    def from_environment(cls) -> "Home":
        given = os.environ.get("MEMADMIN_HINDSIGHT_HOME")
        return cls(Path(given).resolve() if given else ROOT / ".cache" / "hindsight")

    @property
    def venv(self) -> Path:
        return environment.venv_folder(self.folder)

    @property
    def log(self) -> Path:
        return self.folder / "log"

    @property
    def state(self) -> Path:
        return self.folder / "running.json"

    def running(self) -> Running | None:
        """The server, when the noted processes live and the API answers."""
        try:
            noted = Running(**json.loads(self.state.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None
        return noted if all(map(_lives, noted.pids.values())) and _healthy(noted.url) else None

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """One process at a time starts or stops."""
        with self._lock("start.lock", fcntl.LOCK_EX):
            yield

    @contextlib.contextmanager
    def _lock(self, name: str, kind: int) -> Iterator[int]:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            opened = (self.folder / name).open("a")
        except OSError as error:
            raise CannotStart(f"{self.folder} cannot be used: {error.strerror}") from error
        with opened as file:
            fcntl.flock(file, kind)
            yield file.fileno()


def up(home: Home, *, install: bool, keep: bool = False) -> Running:
    """The running server, started when it is not. `install`: whether to download it when it is missing."""
    with home.locked():
        if running := home.running():
            if keep and not running.keep:
                running = Running(running.url, running.model, running.pids, keep)
                _note(home, running)
            return running
        _stop(home)  # leftovers of a start that was cut short
        if not environment.is_installed(home.venv):
            if not install:
                raise CannotStart("Hindsight is not installed; `make hindsight` does it (about 110 MB)")
            _install(home)
        try:
            return _start(home, keep)
        except CannotStart:  # somebody may have taken one of its ports in between
            return _start(home, keep)


def down(home: Home) -> None:
    with home.locked():
        _stop(home)


@contextlib.contextmanager
def used(home: Home, *, install: bool) -> Iterator[Running]:
    """The server during the block, shared with other processes; the last one out stops what tests have started."""
    with home._lock("users.lock", fcntl.LOCK_SH) as users:
        yield up(home, install=install)
        with home.locked():
            try:
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return  # somebody else still uses it
            running = home.running()
            if running and not running.keep:
                _stop(home)


def _install(home: Home) -> None:
    try:
        environment.install(home.venv)
    except environment.InstallFailed as error:
        raise CannotStart(f"the installation failed: {error}") from error


def _start(home: Home, keep: bool) -> Running:
    home.log.mkdir(parents=True, exist_ok=True)
    ports = _free_ports(3)
    pids: dict[str, int] = {}
    url, model = f"http://127.0.0.1:{ports[0]}", f"http://127.0.0.1:{ports[2]}"
    try:
        postgres = Postgres(home.folder / "pg", home.venv)
        pids["postgres"] = postgres.start(ports[1])
        _note(home, Running(url, model, dict(pids), keep))
        stub = Path(__file__).with_name("llm_stub.py")
        pids["stub"] = _spawn(home, "stub", [sys.executable, str(stub), str(ports[2])], os.environ.copy())
        pids["api"] = _spawn(home, "api", [str(home.venv / "bin" / "hindsight-api")], _settings(*ports))
        _note(home, Running(url, model, pids, keep))
        _wait(home, url, pids["api"])
    except (CannotStart, PostgresFailed, OSError, subprocess.TimeoutExpired) as error:
        _stop(home)
        raise CannotStart(str(error)) from error
    return Running(url, model, pids, keep)


def _settings(api: int, postgres: int, stub: int) -> dict[str, str]:
    model = f"http://127.0.0.1:{stub}/v1"
    ours = {
        "HOST": "127.0.0.1",
        "PORT": str(api),
        "DATABASE_URL": f"postgresql://hindsight:hindsight@127.0.0.1:{postgres}/hindsight",
        "DB_POOL_MAX_SIZE": "40",  # its default is all the connections that PostgreSQL has
        "LLM_PROVIDER": "openai",
        "LLM_API_KEY": "stub",
        "LLM_MODEL": "stub",
        "LLM_BASE_URL": model,
        "LLM_MAX_RETRIES": "1",
        "EMBEDDINGS_PROVIDER": "openai",
        "EMBEDDINGS_OPENAI_API_KEY": "stub",
        "EMBEDDINGS_OPENAI_BASE_URL": model,
        "EMBEDDINGS_OPENAI_MODEL": "stub-embed",
        "RERANKER_PROVIDER": "rrf",
        "TENANT_EXTENSION": "hindsight_api.extensions.builtin.tenant:ApiKeyTenantExtension",
        "TENANT_API_KEY": KEY,
        "WORKER_ID": "memadmin-contract",
        "WORKER_TASK_RETRY_BACKOFF_SECONDS": "1",  # else a failing retain takes three minutes to fail
        "WORKER_POLL_INTERVAL_MS": "100",
        "WEBHOOK_ALLOWED_HOSTS": "127.0.0.1,localhost",
        "AUDIT_LOG_ENABLED": "true",
        "LLM_TRACE_ENABLED": "true",
    }
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("HINDSIGHT_")}
    converter = {"PYTHONPATH": str(Path(__file__).with_name("converter"))}
    quiet = {"DO_NOT_TRACK": "1", "OTEL_SDK_DISABLED": "true", "NO_PROXY": "127.0.0.1,localhost"}
    return inherited | quiet | converter | {f"HINDSIGHT_API_{name}": value for name, value in ours.items()}


def _spawn(home: Home, name: str, command: list[str], settings: dict[str, str]) -> int:
    work = home.folder / "run"
    work.mkdir(exist_ok=True)
    (work / ".env").touch()  # the server reads the nearest one above its folder: it ends here
    with (home.log / f"{name}.log").open("w") as log:
        process = subprocess.Popen(
            command, cwd=work, env=settings, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    return process.pid


def _wait(home: Home, url: str, pid: int) -> None:
    deadline = time.monotonic() + _HEALTHY_WITHIN
    while not _healthy(url):
        if not _lives(pid) or time.monotonic() > deadline:
            tail = (home.log / "api.log").read_text(errors="replace")[-1500:]
            raise CannotStart(f"the API did not become healthy:\n{tail}")
        time.sleep(0.25)


def _healthy(url: str) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(f"{url}/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def _stop(home: Home) -> None:
    """Stop the noted processes, and only those."""
    try:
        noted = Running(**json.loads(home.state.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return
    for name, word, first in (
        ("api", "hindsight", signal.SIGTERM),
        ("stub", "llm_stub", signal.SIGTERM),
        ("postgres", "postgres", signal.SIGINT),  # its "fast" shutdown; SIGTERM would wait for clients
    ):
        _end(noted.pids.get(name, 0), word, first)
    home.state.unlink(missing_ok=True)


def _end(pid: int, word: str, first: signal.Signals) -> None:
    for number, patience in ((first, 20.0), (signal.SIGKILL, 5.0)):
        if not _is(pid, word):
            return
        os.kill(pid, number)
        deadline = time.monotonic() + patience
        while _lives(pid) and time.monotonic() < deadline:
            time.sleep(0.1)


def _lives(pid: int) -> bool:
    """Alive and not a child of ours that only waits to be buried."""
    with contextlib.suppress(ChildProcessError, OSError):
        os.waitpid(pid, os.WNOHANG)
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def _is(pid: int, word: str) -> bool:
    """Whether the process is still the one that was noted: numbers are used again."""
    if pid <= 0 or not _lives(pid):
        return False
    try:
        shown = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except OSError:  # no Linux; -ww: as wide as it is
        command = ["ps", "-ww", "-p", str(pid), "-o", "args="]
        shown = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return word in shown


def _note(home: Home, running: Running) -> None:
    fresh = home.state.with_suffix(".new")
    fresh.write_text(json.dumps(asdict(running)), encoding="utf-8")
    fresh.replace(home.state)


def _free_ports(count: int) -> list[int]:
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]

"""The two servers, started in a temporary folder and stopped with the block.

What the suite is told (memadmin/settings_test.py): MEMADMIN_TEST_DATABASE_URL and MEMADMIN_TEST_REDIS_URL.
"""

import contextlib
import fcntl
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import psycopg
import redis

from memadmin.runtime import die_with_parent
from tests.services.account import Account, NoAccount

PREFIX = "memadmin-services-"
USER = "memadmin"
REDIS_DATABASES = 10_000
_READY_WITHIN = 180.0  # seconds
_STOPPED_WITHIN = 20.0
# Nothing of it outlives the run, and no query runs so long that compiling it first would pay.
_QUICK = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "jit=off")


class CannotStart(Exception):
    """Why there is no server, in words for the person at the terminal."""


@contextlib.contextmanager
def started() -> Iterator[dict[str, str]]:
    """Both servers run during the block, which gets the variables to tell. Raises CannotStart."""
    _remove_leftovers()
    folder = Path(tempfile.mkdtemp(prefix=PREFIX))
    folder.chmod(0o711)  # the borrowed account passes through to its own
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        lock = stack.enter_context((folder / "lock").open("w"))
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield {
            "MEMADMIN_TEST_DATABASE_URL": _postgres(stack, folder / "pg"),
            "MEMADMIN_TEST_REDIS_URL": _redis(stack, folder / "redis"),
        }


def _postgres(stack: contextlib.ExitStack, folder: Path) -> str:
    programs = _postgres_programs()
    try:
        account = Account()
    except NoAccount as error:
        raise CannotStart(str(error)) from error
    if not account.folder(folder):
        raise CannotStart(f"the account {account.name} cannot reach {folder}; set TMPDIR to a folder that it can")
    data = folder / "data"
    # Sorted as people sort, like most installations: what only works in the order of bytes fails here.
    words = ["--username", USER, "--auth", "trust", "--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync"]
    order = ["--locale-provider", "icu", "--icu-locale", "en-US"]
    made = account.run(str(programs / "initdb"), "--pgdata", str(data), *words, *order)
    if made.returncode:
        raise CannotStart(f"initdb failed: {made.stdout[-800:]}")
    settings = [f"unix_socket_directories={folder}", "listen_addresses=", "max_connections=300", *_QUICK]
    command = [str(programs / "postgres"), "-D", str(data), *(word for each in settings for word in ("-c", each))]
    # SIGINT is its quick way down: it does not wait for clients.
    process = _spawn(stack, command, folder, signal.SIGINT, account)
    url = f"postgres://{USER}@/postgres?host={folder}"

    def answers() -> bool:
        with contextlib.suppress(psycopg.OperationalError), psycopg.connect(url, connect_timeout=5):
            return True
        return False

    _wait(process, answers, folder, "PostgreSQL")
    return url


def _postgres_programs() -> Path:
    """Debian keeps them off the PATH, one folder per version: the newest one."""
    found = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    if on_path := shutil.which("initdb"):
        found.append(Path(on_path).resolve().parent)
    if not found:
        raise CannotStart("PostgreSQL is not installed; on Debian: apt-get install postgresql")
    return max(found, key=lambda path: [int(number) for number in re.findall(r"\d+", str(path))])


def _redis(stack: contextlib.ExitStack, folder: Path) -> str:
    program = shutil.which("redis-server") or shutil.which("valkey-server")
    if program is None:
        raise CannotStart("Redis is not installed; on Debian: apt-get install redis-server")
    folder.mkdir(mode=0o700)
    socket = folder / "redis.sock"
    options = {"port": "0", "unixsocket": str(socket), "dir": str(folder), "save": "", "appendonly": "no"}
    command = [program, *(word for name, value in options.items() for word in (f"--{name}", value))]
    command += ["--databases", str(REDIS_DATABASES)]
    process = _spawn(stack, command, folder, signal.SIGTERM)

    def answers() -> bool:
        with contextlib.suppress(redis.RedisError), redis.Redis(unix_socket_path=str(socket)) as client:
            return bool(client.ping())
        return False

    _wait(process, answers, folder, "Redis")
    return f"unix://{socket}"


def _spawn(
    stack: contextlib.ExitStack, command: list[str], folder: Path, down: signal.Signals, account: Account | None = None
) -> subprocess.Popen[bytes]:
    """In a session of its own, so that Ctrl-C reaches the tests first; the kernel ends it when we are killed."""
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=partial(die_with_parent, os.getpid(), down),
            **(account.as_user if account else {}),
        )
    stack.callback(_stop, process, down)
    return process


def _stop(process: subprocess.Popen[bytes], down: signal.Signals) -> None:
    process.send_signal(down)
    try:
        process.wait(_STOPPED_WITHIN)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _wait(process: subprocess.Popen[bytes], answers: Callable[[], bool], folder: Path, name: str) -> None:
    deadline = time.monotonic() + _READY_WITHIN
    while not answers():
        if process.poll() is not None or time.monotonic() > deadline:
            said = (folder / "log").read_text(errors="replace")[-1500:]
            raise CannotStart(f"{name} did not start:\n{said}")
        time.sleep(0.05)


def _remove_leftovers() -> None:
    """The folders of runs that were killed; their servers went down with them."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        try:
            with (folder / "lock").open() as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except OSError:
            continue  # in use, or somebody else's

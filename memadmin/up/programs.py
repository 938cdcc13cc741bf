"""The processes of the product. The Procfile says the same for those who run them by themselves."""

import signal
import sys
from pathlib import Path

from memadmin.supervisor import Program

WEB_THREADS = "4"
WORKER_THREADS = "4"
# Tasks are short, and a worker that is asked to stop finishes those it has.
WORKER_GRACE = 60.0
# Without a broker there is nothing they could finish in order; their rows are taken up again at the next start.
GONE = signal.SIGKILL
# Ten lines at each start in a container; our workers unpickle nothing.
QUIET = {"PYTHONWARNINGS": "ignore:You're running the worker with superuser privileges"}


def demo(data_dir: Path, port: int) -> Program:
    command = [sys.executable, "-m", "banks.demo", "--data", str(data_dir), "--port", str(port)]
    return Program("demo", command, tier=1)


def prepare(report: Path) -> Program:
    return Program("prepare", [sys.executable, "-m", "memadmin", "prepare", "--report", str(report)], tier=2, once=True)


def web(port: int, *, after: Path) -> Program:
    """Serves once the file `after` is there (memadmin/wsgi.py), and loads until then."""
    options = {
        "--interface": "wsgi",
        "--host": "127.0.0.1",
        "--port": str(port),
        "--workers": "1",
        "--blocking-threads": WEB_THREADS,
        "--workers-kill-timeout": "8",
        "--log-level": "warning",
    }
    command = [sys.executable, "-m", "granian", "--no-ws"]
    for name, value in options.items():
        command += [name, value]
    env = {"MEMADMIN_STARTS_AFTER": str(after)}
    return Program("web", [*command, "memadmin.wsgi:application"], tier=2, env=env)


def workers() -> list[Program]:
    """Two workers, so that neither a slow server nor a big import stops decisions, and one beat."""
    return [_worker("door"), _worker("load"), _beat()]


def _celery(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "celery", "--quiet", "-A", "memadmin", *arguments, "--loglevel", "WARNING"]


def _worker(queue: str) -> Program:
    # Gossip and mingle are for fleets, and cost a second at the start.
    options = ["-Q", queue, "-n", f"{queue}@%h", "--pool", "threads", "-c", WORKER_THREADS]
    command = _celery("worker", *options, "--without-gossip", "--without-mingle")
    return Program(queue, command, tier=3, grace=WORKER_GRACE, env=QUIET, last_signal=GONE)


def _beat() -> Program:
    return Program("beat", _celery("beat", "--pidfile", ""), tier=4, last_signal=GONE)

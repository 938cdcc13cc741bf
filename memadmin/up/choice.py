"""Which Hindsight: the one that was asked for, the one of last time, the one on this machine, else the demo.

The choice is kept in the data folder. The demo has a folder of its own below it, with its own database, broker,
keys and port, so that sample memories and real ones never meet.
"""

import http.client
import json
import os
import shutil
from collections.abc import Callable, MutableMapping
from dataclasses import dataclass
from pathlib import Path

from memadmin.runtime import private_folder
from memadmin.supervisor import Failed
from memadmin.up.folder import free_port, running

LOCAL = ("localhost", 8888)
LOCAL_URL = "http://localhost:8888"
DEMO = "demo"
CHOICE_FILE = "hindsight.json"
DEMO_FOLDER = "demo"
DEMO_FILE = "this-is-a-demo.json"  # also the proof that the folder may be removed

Environment = MutableMapping[str, str]


@dataclass(frozen=True)
class Choice:
    hindsight: str  # "demo" or a base URL
    why: str  # said at the start

    @property
    def demo(self) -> bool:
        return self.hindsight == DEMO


def base_dir(environ: Environment) -> Path:
    return Path(environ.get("MEMADMIN_DATA_DIR", "").strip() or "var").expanduser().absolute()


def choose(base: Path, environ: Environment, asked: str = "", *, answers: Callable[[], bool] | None = None) -> Choice:
    """`asked` is a base URL, "demo", "auto" (look again) or nothing. Keeps what was chosen."""
    choice = _choose(base, environ, asked, answers or local_hindsight_answers)
    private_folder(base)
    fresh = base / f".{CHOICE_FILE}.{os.getpid()}"
    fresh.write_text(json.dumps({"hindsight": choice.hindsight}), encoding="utf-8")
    fresh.replace(base / CHOICE_FILE)
    return choice


def _choose(base: Path, environ: Environment, asked: str, answers: Callable[[], bool]) -> Choice:
    if asked and asked != "auto":
        return Choice(asked, "as asked for")
    if url := _from_environment(environ):
        return Choice(url, "from HINDSIGHT_BASE_URL")
    if asked != "auto" and (last := kept(base)):
        other = "memadmin up --hindsight URL" if last == DEMO else "memadmin up --hindsight auto"
        return Choice(last, f"as last time; {other} chooses another")
    if answers():
        return Choice(LOCAL_URL, "it answers on this machine")
    return Choice(DEMO, f"HINDSIGHT_BASE_URL is not set and nothing answers at {LOCAL_URL}")


def kept(base: Path) -> str:
    """The choice of last time, "" when there was none."""
    try:
        return str(json.loads((base / CHOICE_FILE).read_text(encoding="utf-8"))["hindsight"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _from_environment(environ: Environment) -> str:
    if file := environ.get("HINDSIGHT_BASE_URL_FILE"):
        try:
            return Path(file).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise Failed(f"HINDSIGHT_BASE_URL_FILE names {file}, which cannot be read: {error}") from error
    return environ.get("HINDSIGHT_BASE_URL", "").strip()


def local_hindsight_answers() -> bool:
    """Whether a Hindsight server listens on its usual port. Other programs live there too: the answer must fit."""
    return any(_says(path, key) for path, key in (("/version", "api_version"), ("/health", "status")))


def _says(path: str, key: str) -> bool:
    connection = http.client.HTTPConnection(*LOCAL, timeout=2)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        body = json.loads(answer.read(65_536))
    except (OSError, http.client.HTTPException, ValueError):
        return False
    finally:
        connection.close()
    return answer.status == 200 and isinstance(body, dict) and key in body


# ── the demo's own world ─────────────────────────────────────────────────────────────────────────────────────


def demo_port(base: Path) -> int:
    """The demo server's port: the one it had, while that is free. The folder is made with its mark."""
    folder = private_folder(base / DEMO_FOLDER)
    try:
        last = json.loads((folder / DEMO_FILE).read_text(encoding="utf-8"))["port"]
    except (OSError, ValueError, KeyError, TypeError):
        last = None
    port = free_port(last)
    (folder / DEMO_FILE).write_text(json.dumps({"port": port}), encoding="utf-8")
    return port


def reset_demo(base: Path) -> bool:
    """Removes the demo's folder and nothing else; False when there was none."""
    folder = base / DEMO_FOLDER
    if not folder.exists() and not folder.is_symlink():
        return False
    if folder.is_symlink() or not (folder / DEMO_FILE).is_file():
        raise Failed(f"{folder} was not made by the demo: nothing was removed.")
    shutil.rmtree(folder)
    return True


def enter(choice: str, base: Path, environ: Environment, *, port: int | None = None) -> None:
    """Points the environment, before Django's settings are read, at the world of this choice."""
    if choice != DEMO:
        environ["HINDSIGHT_BASE_URL"] = choice
        environ.pop("HINDSIGHT_BASE_URL_FILE", None)
        environ.pop("MEMADMIN_DEMO", None)
        return
    # A real server's key and namespace are none of the demo's business.
    for name in ("HINDSIGHT_BASE_URL", "HINDSIGHT_NAMESPACE", "HINDSIGHT_API_KEY"):
        environ.pop(name, None)
        environ.pop(f"{name}_FILE", None)
    environ["MEMADMIN_DATA_DIR"] = str(base / DEMO_FOLDER)
    environ["MEMADMIN_DEMO"] = "yes"
    if port is not None:
        environ["HINDSIGHT_BASE_URL"] = f"http://127.0.0.1:{port}"


def enter_current(environ: Environment) -> None:
    """For every other command: the world of the `up` that runs on this data folder, else that of the last one."""
    if environ.get("MEMADMIN_DEMO"):  # a child of `up`, or somebody who knows
        return
    base = base_dir(environ)
    if now := running(base):
        environ["MEMADMIN_ADDRESS"] = now.address
        enter(now.hindsight, base, environ, port=now.demo_port)
    elif not _from_environment(environ) and (last := kept(base)):
        enter(last, base, environ)

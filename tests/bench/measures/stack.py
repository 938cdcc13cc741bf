"""The embedded stack as a person starts it: `memadmin up`, with a memory server that has nothing to say."""

import http.client
import http.server
import json
import re
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.cookies import SimpleCookie
from pathlib import Path
from statistics import median
from typing import Any
from urllib.parse import urlencode

from tests.bench.timing import Result
from tests.bench.world import EMBEDDED, Profile
from tests.stack.support import Up, processes, running

MEMORY_GOAL, START_GOAL = 400.0, 4.0  # MB, seconds
SETTLED = 20.0  # seconds of beats and sweeps before anything is weighed
STARTS = 5
PERSON = {"MEMADMIN_ADMIN_USERNAME": "ann", "MEMADMIN_ADMIN_PASSWORD": "a long enough password"}
PAGES = ("/", "/reviews/", "/log/", "/imports/", "/reviews/?state=decided")


class _Quiet(http.server.BaseHTTPRequestHandler):
    """Healthy, and without any bank."""

    def do_GET(self) -> None:
        answers: dict[str, Any] = {
            "/health": {"status": "healthy"},
            "/version": {"api_version": "0.6.0", "features": {}},
            "/v1/default/banks": {"banks": []},
        }
        found = answers.get(self.path.partition("?")[0])
        body = json.dumps(found or {"detail": "Not Found"}).encode()
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
        pass


@contextmanager
def quiet_hindsight() -> Iterator[str]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Quiet)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def stack_memory(profiles: list[Profile]) -> Iterator[Result]:
    """The proportional share of all processes, after pages were shown and the workers have worked for a while."""
    if not any(profile.name == EMBEDDED for profile in profiles):
        return
    with (
        quiet_hindsight() as url,
        _folder() as data_dir,
        running(data_dir, "--port", "0", new=True, HINDSIGHT_BASE_URL=url, **PERSON) as up,
    ):
        address = up.wait_until_ready()
        _use(address)
        time.sleep(SETTLED)
        _use(address)
        weighed = median(sum(_weigh(data_dir).values()) for _ in range(3))
        shares = ", ".join(f"{name} {size:.0f}" for name, size in _by_name(data_dir).items())
        yield Result("stack_rss_mb", weighed, MEMORY_GOAL, "MB", EMBEDDED, 1.0, shares)


def cold_start(profiles: list[Profile]) -> Iterator[Result]:
    """From the command to the first page, with a warm file cache: on a used data folder, a fresh one, and the demo."""
    if not any(profile.name == EMBEDDED for profile in profiles):
        return
    with quiet_hindsight() as url, _folder() as data_dir:
        own = {"HINDSIGHT_BASE_URL": url, **PERSON}
        _start(data_dir, own)
        used = [_start(data_dir, own) for _ in range(STARTS)]
        yield Result("cold_start_s", median(used), START_GOAL, "s", EMBEDDED, 1.0)
        fresh = [_start(data_dir.parent / f"fresh-{number}", own) for number in range(STARTS)]
        yield Result("cold_start_fresh_s", median(fresh), START_GOAL, "s", EMBEDDED)
        demo = [_start(data_dir.parent / f"demo-{number}", PERSON, "--hindsight", "demo") for number in range(STARTS)]
        yield Result("cold_start_demo_s", median(demo), START_GOAL, "s", EMBEDDED)


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="memadmin-bench-") as folder:
        yield Path(folder) / "var"


def _start(data_dir: Path, env: dict[str, str], *arguments: str) -> float:
    """Seconds until a page is served; the port is known before, so that asking does not wait for the output."""
    start = time.monotonic()
    up = Up(data_dir, "--port", "0", *arguments, **env)
    try:
        address = up.wait_until_ready()
        status, _, body = _get(address, "/accounts/login/")
        taken = time.monotonic() - start
        assert status == 200, up.output
        assert b"<form" in body
        return taken
    finally:
        up.stop()


def _use(address: str) -> None:
    """Signs in and looks at the pages a few times."""
    _, cookies, page = _get(address, "/accounts/login/")
    token = re.search(rb'name="csrfmiddlewaretoken" value="([^"]+)"', page)
    assert token is not None
    form = {"login": "ann", "password": PERSON["MEMADMIN_ADMIN_PASSWORD"], "csrfmiddlewaretoken": token[1].decode()}
    _, cookies, _ = _get(address, "/accounts/login/", cookies, form)
    for _ in range(10):
        for path in PAGES:
            status, _, _ = _get(address, path, cookies)
            assert status == 200, (path, status)


def _get(
    address: str, path: str, cookies: dict[str, str] | None = None, form: dict[str, str] | None = None
) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(address.removeprefix("http://"), timeout=30)
    headers = {"Cookie": "; ".join(f"{name}={value}" for name, value in (cookies or {}).items())}
    if form is not None:
        headers["Content-Type"] = "application/x-www-form-urlencoded"
    try:
        connection.request("POST" if form else "GET", path, urlencode(form) if form else None, headers)
        answer = connection.getresponse()
        body = answer.read()
    finally:
        connection.close()
    found = SimpleCookie()
    for text in answer.headers.get_all("Set-Cookie", []):
        found.load(text)
    return answer.status, {**(cookies or {}), **{name: morsel.value for name, morsel in found.items()}}, body


def _weigh(data_dir: Path) -> dict[int, float]:
    """MB of each process: its own memory, and its share of what several have in common."""
    found = {}
    for pid in processes(data_dir):
        share = re.search(
            r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii"), re.MULTILINE
        )
        found[pid] = int(share[1]) / 1024 if share else 0.0
    return found


def _by_name(data_dir: Path) -> dict[str, float]:
    names = {"granian": "web", "-Q door": "door", "-Q load": "load", " beat ": "beat", "valkey": "valkey", " up": "up"}
    found: dict[str, float] = {}
    commands = processes(data_dir)
    for pid, size in _weigh(data_dir).items():
        name = next((name for part, name in names.items() if part in commands.get(pid, "")), "other")
        found[name] = found.get(name, 0.0) + size
    return dict(sorted(found.items()))

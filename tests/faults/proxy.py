"""The line between memadmin and its server, and how it lies: it delays, and it cuts before or after the server acted.

It repeats nothing by itself: whatever is applied twice was sent twice. What it forwarded is written down.
"""

import http.client
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote

HOST = "127.0.0.1"
FATES = {"pass": 58, "delay": 22, "cut before": 7, "cut after": 7, "busy": 3, "stall": 3}
# What only happens to calls that change the bank: whoever sent it dies before, or after, it was done.
DEADLY = {"kill before": 5, "kill after": 7}
LONGEST_DELAY = 0.5  # seconds
_HOP = {"connection", "transfer-encoding", "keep-alive", "host"}


@dataclass
class Journal:
    """What reached the server and was answered with 2xx."""

    deleted: Counter[str] = field(default_factory=Counter)  # document id: how often a delete was carried out
    retained: Counter[str] = field(default_factory=Counter)  # operation id: how often the server took it
    fates: Counter[str] = field(default_factory=Counter)

    def note(self, method: str, path: str, body: bytes) -> None:
        if method == "DELETE" and "/documents/" in path:
            self.deleted[unquote(path.partition("/documents/")[2])] += 1
        if method == "POST" and path.endswith("/memories"):
            self.retained[str(json.loads(body).get("operation_id"))] += 1


class LyingLine:
    """A proxy in front of one port. Honest until `lie` was called."""

    def __init__(self, target: int, *, stall: float) -> None:
        self.target, self.stall = target, stall
        self.journal = Journal()
        self.kill_sender: Callable[[int], object] = lambda port: None  # told the TCP port of who sent a call
        self._random: random.Random | None = None
        self._lock = threading.Lock()
        self._http = ThreadingHTTPServer((HOST, 0), type("Bound", (_Handler,), {"line": self}))
        self._http.daemon_threads = True
        threading.Thread(target=self._http.serve_forever, daemon=True, name="line").start()

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self._http.server_address[1]}"

    def lie(self, seed: int | None) -> None:
        """From now on, by this seed; None is honest again."""
        with self._lock:
            self._random = None if seed is None else random.Random(seed)

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()

    def fate(self, method: str) -> tuple[str, float]:
        """What happens to this call, and after how many seconds."""
        with self._lock:
            if self._random is None:
                return "pass", 0.0
            fates = FATES if method == "GET" else FATES | DEADLY
            name = self._random.choices(list(fates), list(fates.values()))[0]
            delay = self._random.uniform(0.02, LONGEST_DELAY) if name != "pass" else 0.0
            self.journal.fates[name] += 1
            return name, delay

    def forward(self, method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Any, bytes]:
        connection = http.client.HTTPConnection(HOST, self.target, timeout=30)
        try:
            connection.request(method, path, body=body or None, headers=headers)
            answer = connection.getresponse()
            content = answer.read()
        finally:
            connection.close()
        if answer.status < 300:
            with self._lock:
                self.journal.note(method, path, body)
        return answer.status, answer.getheaders(), content


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    line: LyingLine

    def _pass_on(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length") or 0))
        fate, delay = self.line.fate(self.command)
        time.sleep(delay)
        if fate in ("cut before", "kill before"):
            self._cut(fate)
            return
        if fate == "busy":
            self._answer(503, [("retry-after", "1"), ("content-type", "application/json")], b'{"detail": "busy"}')
            return
        headers = {name: value for name, value in self.headers.items() if name.lower() not in _HOP}
        try:
            answer = self.line.forward(self.command, self.path, headers, body)
        except (OSError, http.client.HTTPException):
            self._cut("away")
            return
        if fate == "stall":
            time.sleep(self.line.stall)
        if fate in ("cut after", "kill after", "stall"):
            self._cut(fate)
            return
        self._answer(*answer)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _pass_on  # noqa: N815  # names given by http.server

    def _cut(self, fate: str) -> None:
        if fate.startswith("kill"):
            self.line.kill_sender(self.client_address[1])
        self.close_connection = True

    def _answer(self, status: int, headers: Any, content: bytes) -> None:
        try:
            self.send_response_only(status)
            for name, value in headers:
                if name.lower() not in _HOP | {"content-length"}:
                    self.send_header(name, value)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)
        except OSError:  # whoever asked is dead
            self.close_connection = True

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name is given by http.server
        pass

    def handle(self) -> None:
        try:
            super().handle()
        except OSError:
            self.close_connection = True

"""The demo server as a process, on the loopback address only."""

import argparse
import http.client
import logging
import signal
import sys
import threading
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from banks.demo.samples import fill
from banks.demo.server import DemoServer

logger = logging.getLogger(__name__)

HOST = "127.0.0.1"
STATE_FILE = "demo.sqlite3"
_LARGEST_BODY = 64 * 1024 * 1024
_EVERY, _PATIENCE = 0.5, 5.0  # seconds between looks at what is to be called, and for one call


class Handler(BaseHTTPRequestHandler):
    """Passes every request on to the one DemoServer."""

    protocol_version = "HTTP/1.1"
    server_version = "memadmin-demo"
    sys_version = ""
    demo: DemoServer

    def _pass_on(self) -> None:
        try:
            length = int(self.headers.get("content-length") or 0)
        except ValueError:
            length = -1
        if not 0 <= length <= _LARGEST_BODY or self.headers.get("transfer-encoding"):
            self.close_connection = True
            self.send_error(413 if length > _LARGEST_BODY else 400)
            return
        status, headers, body = self.demo.handle(self.command, self.path, dict(self.headers), self.rfile.read(length))
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _pass_on  # noqa: N815  # names given by http.server

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the name is given by http.server
        """Paths hold ids of memories: nothing is logged."""


def send(url: str, headers: dict[str, str], body: bytes) -> int:
    """One call of a webhook; redirects are not followed. The status, 0 when nobody answers."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port or 80, timeout=_PATIENCE)
    target = f"{parts.path or '/'}{'?' if parts.query else ''}{parts.query}"
    try:
        connection.request("POST", target, body, headers)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def call_webhooks(demo: DemoServer, over: threading.Event) -> None:
    while not over.wait(_EVERY):
        try:
            demo.deliver(send)
        except Exception:
            logger.exception("the demo server could not call its webhooks")


def open_demo(folder: Path) -> DemoServer:
    """The demo server of this folder; filled with the samples when it is new."""
    file = folder / STATE_FILE
    server = DemoServer(file)
    if not server.is_filled:
        count = fill(server, datetime.now(UTC))
        server.mark_filled()
        logger.info("filled the demo server with %d sample memories", count)
    return server


class _Listener(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Who asked may hang up, or be killed: that is no fault of ours, and no traceback in somebody's terminal."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


def serve(folder: Path, port: int) -> int:
    """Serve until SIGTERM or SIGINT. Returns the exit status."""
    demo = open_demo(folder)
    handler = type("BoundHandler", (Handler,), {"demo": demo})
    try:
        server = _Listener((HOST, port), handler)
    except OSError as error:
        sys.stderr.write(f"The demo server cannot listen on port {port}: {error.strerror}.\n")
        demo.close()
        return 1

    def stop(number: int, frame: object) -> None:
        threading.Thread(target=server.shutdown).start()  # shutdown() waits for the loop that this handler interrupts

    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, stop)
    sys.stdout.write(f"demo server on http://{HOST}:{server.server_address[1]}\n")
    sys.stdout.flush()
    over = threading.Event()
    calling = threading.Thread(target=call_webhooks, args=(demo, over), daemon=True)
    calling.start()
    with server:
        server.serve_forever(poll_interval=0.2)
    over.set()
    calling.join(2 * _PATIENCE)
    demo.close()
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m banks.demo", description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of the demo's banks; made and filled when new")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one and prints it")
    given = parser.parse_args()
    return serve(given.data, given.port)

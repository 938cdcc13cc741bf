"""The demo server as a process: it answers on loopback, stops when asked to, and remembers."""

import json
import os
import queue
import re
import signal
import socket
import struct
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from uuid import uuid4

import pytest

from banks.hindsight import HindsightClient, NotFound, RetainItem
from banks.webhooks import signing

ROOT = Path(__file__).resolve().parents[2]


class Running:
    def __init__(self, folder, port=0):
        command = [sys.executable, "-m", "banks.demo", "--data", str(folder), "--port", str(port)]
        self.process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.url = re.search(r"http://\S+", self.process.stdout.readline() or "").group()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        _, self.complaints = self.process.communicate(timeout=120)


def test_it_answers_and_forgets_nothing_over_a_restart(tmp_path):
    with Running(tmp_path) as running, HindsightClient(running.url) as client:
        assert running.url.startswith("http://127.0.0.1:")
        assert client.version().features["demo"] is True
        before = {bank.bank_id for bank in client.list_banks()}
        client.delete_document("payments", "pay-webhook-order")
    assert running.process.returncode == 0
    with Running(tmp_path) as running, HindsightClient(running.url) as client:
        assert {bank.bank_id for bank in client.list_banks()} == before
        with pytest.raises(NotFound):
            client.get_document("payments", "pay-webhook-order")
        assert client.get_document("payments", "pay-2026-retry-budget").text


def test_who_hangs_up_leaves_no_traceback(tmp_path):
    with Running(tmp_path) as running:
        host, port = running.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port))) as line:
            line.sendall(b"GET /v1/default/banks HTTP/1.1\r\nHost: x\r\n")
            line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closing resets it
        with HindsightClient(running.url) as client:
            assert client.list_banks()
    assert running.complaints == ""


def test_it_calls_the_webhooks_of_this_machine(tmp_path):
    """With both signatures, and again when it was not taken."""
    calls = queue.Queue()
    answers = [500, 204]

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            self.send_response(answers.pop(0) if answers else 204)
            self.end_headers()
            calls.put((self.path, dict(self.headers), body))

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as here:
        threading.Thread(target=here.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        url = f"http://127.0.0.1:{here.server_address[1]}/hooks/x"
        with Running(tmp_path) as running, HindsightClient(running.url) as client:
            client.create_webhook("payments", url=url, secret="s3cret", events=["retain.completed"])
            client.retain("payments", [RetainItem("Ann keeps the ledger.", "notes/a.md")], operation_id=uuid4())
            first, again = calls.get(timeout=120), calls.get(timeout=120)
        here.shutdown()
    path, headers, body = first
    assert (path, again[2]) == ("/hooks/x", body)
    assert json.loads(body)["data"]["document_id"] == "notes/a.md"
    assert again[1]["X-Hindsight-Delivery-Id"] == headers["X-Hindsight-Delivery-Id"]
    v1, v2 = headers["X-Hindsight-Signature"], headers["X-Hindsight-Signature-V2"]
    at = int(v2.partition(",")[0].removeprefix("t="))
    assert signing.check("s3cret", body, v1=v1, v2=v2, now=at) == "v2"


def test_a_taken_port_is_said_in_one_line(tmp_path):
    with Running(tmp_path / "one") as first:
        port = first.url.rsplit(":", 1)[1]
        command = [sys.executable, "-m", "banks.demo", "--data", str(tmp_path / "two"), "--port", port]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, env=os.environ)
    assert done.returncode == 1
    assert f"cannot listen on port {port}" in done.stderr
    assert "Traceback" not in done.stderr
